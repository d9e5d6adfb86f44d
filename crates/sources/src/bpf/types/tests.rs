use super::*;
use aya::{Btf, Endianness};

/// No module is there.
const NONE: [Vec<u8>; MODULES.len()] = [const { Vec::new() }; MODULES.len()];

#[test]
fn the_reduced_types_can_be_read_and_are_few() {
    let Ok(bytes) = std::fs::read(KERNEL) else {
        return; // A kernel without; what loads programs says so.
    };
    let wanted = Wanted::new(
        "request\ntask_struct",
        "btf_trace_block_rq_issue\nbpf_iter_task",
    );
    let (all, _) = All::open(&bytes, &wanted).unwrap();
    let reduced = reduce(&bytes, &NONE, &wanted).unwrap();
    assert!(reduced.structs.len() < bytes.len() / 20);
    assert!(reduced.hooks.len() < bytes.len() / 2);
    for of in [&reduced.structs, &reduced.hooks] {
        Btf::parse(of, Endianness::default()).unwrap();
    }
    let (structs, found) = All::open(&reduced.structs, &wanted).unwrap();
    assert_eq!(found.structs.len(), 2);
    let named = |all: &All<'_>, wanted: &[u8]| {
        let of_that_name = |id: &u32| {
            let (bytes, kind, _) = all.get(*id).unwrap();
            kind == kind::STRUCT && all.name(word(bytes, 0).unwrap()) == wanted
        };
        (1..all.starts.len() as u32).find(of_that_name).unwrap()
    };
    // A struct has the same fields, in the same places and of the same kinds.
    let fields = |all: &All<'_>| {
        let (bytes, _, parts) = all.get(named(all, b"request")).unwrap();
        let field = |part: usize| {
            let at = |place| word(bytes, 12 + part * 12 + place).unwrap();
            let kind = all.get(at(4)).map(|(_, kind, _)| kind);
            (all.name(at(0)).to_vec(), kind, at(8))
        };
        (0..parts).map(field).collect::<Vec<_>>()
    };
    assert!(fields(&all).len() > 10);
    assert_eq!(fields(&structs), fields(&all));
    // A hook keeps its number.
    let hook = |all: &All<'_>, wanted: &[u8]| {
        (1..all.starts.len() as u32).find(|id| {
            let name = all.get(*id).and_then(|(bytes, ..)| word(bytes, 0));
            name.is_some_and(|n| all.name(n) == wanted)
        })
    };
    let (hooks, found) = All::open(&reduced.hooks, &wanted).unwrap();
    assert_eq!(found.hooks.len(), 2);
    assert_eq!(
        hook(&hooks, b"btf_trace_block_rq_issue"),
        hook(&all, b"btf_trace_block_rq_issue")
    );
    assert!(
        found
            .hooks
            .contains(&hook(&hooks, b"btf_trace_block_rq_issue").unwrap())
    );
}

/// A description made of types of 12 bytes (name, kind and parts, type) and what follows them.
fn made(types: &[([u32; 3], &[[u32; 2]])], names: &str) -> Vec<u8> {
    let mut description = Description::with_room(8);
    description.names = names.as_bytes().to_vec();
    for (fixed, parts) in types {
        let words = fixed.iter().chain(parts.as_flattened());
        description
            .types
            .extend(words.flat_map(|w| w.to_ne_bytes()));
    }
    description.bytes()
}

/// Before Linux 5.11 a request came after its queue: the program has to know.
#[test]
fn arguments_of_a_tracepoint_are_counted() {
    let names = "\0request\0btf_trace_block_rq_issue\0btf_trace_other\0";
    let of = |kind: u32, parts: u32| kind << 24 | parts;
    for (parameters, expected) in [(2_usize, 1), (3, 2)] {
        let proto = vec![[0, 1]; parameters];
        let types: &[([u32; 3], &[[u32; 2]])] = &[
            ([0, of(kind::PTR, 0), 0], &[]),
            ([1, of(kind::STRUCT, 0), 8], &[]),
            ([0, of(kind::FUNC_PROTO, parameters as u32), 0], &proto),
            ([0, of(kind::PTR, 0), 3], &[]),
            ([9, of(kind::TYPEDEF, 0), 4], &[]),
            // Of another kind than a tracepoint's is.
            ([34, of(kind::TYPEDEF, 0), 2], &[]),
        ];
        let wanted = Wanted::new("request", "btf_trace_block_rq_issue\nbtf_trace_other");
        let reduced = reduce(&made(types, names), &NONE, &wanted).unwrap();
        let counted = HashMap::from([("block_rq_issue".to_owned(), expected)]);
        assert_eq!(reduced.arguments, counted);
    }
}

#[test]
fn arguments_of_this_kernel_are_those_of_its_events() {
    let Ok(reduced) = of_this_kernel() else {
        return; // A kernel without; what loads programs says so.
    };
    // The same in all kernels that have them.
    for (event, count) in [("sched_process_exec", 3), ("block_rq_complete", 3)] {
        assert_eq!(reduced.arguments.get(event), Some(&count), "{event}");
    }
}

#[test]
fn the_types_of_new_kernels_are_mapped() {
    let release = rustix::system::uname()
        .release()
        .to_string_lossy()
        .into_owned();
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|n| n.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let Ok(file) = File::open(KERNEL) else {
        return; // A kernel without; what loads programs says so.
    };
    if version >= (6, 16) {
        assert_eq!(&map(&file).unwrap()[..], std::fs::read(KERNEL).unwrap());
    }
}

#[test]
fn what_is_no_description_is_refused() {
    let wanted = Wanted::new(STRUCTS, HOOKS);
    for bytes in [&[][..], &[0; 100]] {
        assert!(reduce(bytes, &NONE, &wanted).is_none());
    }
    let mut cut = vec![0x9f, 0xeb, 1, 0];
    for field in [24_u32, 0, 900, 900, 10] {
        cut.extend_from_slice(&field.to_ne_bytes());
    }
    assert!(reduce(&cut, &NONE, &wanted).is_none());
}

/// Without its type the loader would say that this kernel has no such hook.
#[test]
fn every_hook_of_the_programs_is_looked_for() {
    let known: HashSet<&str> = HOOKS.lines().collect();
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bpf");
    let (mut hooks, mut by_name) = (0, 0);
    let files = std::fs::read_dir(sources).unwrap();
    let paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    let are = |wanted: &str| {
        let wanted = wanted.to_owned();
        let of = move |p: &&std::path::PathBuf| p.extension().is_some_and(|e| *e == *wanted);
        paths.iter().filter(of)
    };
    let programs: String = are("c")
        .map(|p| std::fs::read_to_string(p).unwrap())
        .collect();
    for path in are("rs") {
        let text = std::fs::read_to_string(path).unwrap();
        for call in ["Hook::needed(", "Hook::useful("] {
            for (at, _) in text.match_indices(call) {
                let rest = text[at + call.len()..].split(')').next().unwrap();
                let Some(event) = rest.rsplit(", ").next().unwrap().strip_prefix('"') else {
                    continue;
                };
                let event = event.trim_end_matches('"');
                // One that is taken by name has no type here.
                if programs.contains(&format!("SEC(\"raw_tp/{event}\")")) {
                    by_name += 1;
                    continue;
                }
                let name = match event.split_once('/') {
                    Some(("iter", list)) => format!("bpf_iter_{list}"),
                    Some((_, function)) => function.to_owned(),
                    None => format!("btf_trace_{event}"),
                };
                assert!(known.contains(name.as_str()), "{name}");
                hooks += 1;
            }
        }
    }
    assert!(hooks > 25, "{hooks}");
    assert_eq!(by_name, 8);
}

/// What a module describes is numbered and named behind what the kernel describes.
#[test]
fn structs_of_a_module_are_read_with_those_of_the_kernel() {
    let of = |kind: u32, parts: u32| kind << 24 | parts;
    let names = "\0u32\0request\0btf_trace_block_rq_issue\0";
    let base = made(
        &[
            ([1, of(kind::FLOAT, 0), 4], &[]),
            ([5, of(kind::STRUCT, 2), 8], &[[1, 1], [0, 1], [1, 32]]),
            ([13, of(kind::TYPEDEF, 0), 1], &[]),
        ],
        names,
    );
    let behind = |name: u32| names.len() as u32 + name;
    // `peer`, `svc_rqst` with one in it, and another `request`.
    let own = "\0peer\0svc_rqst\0rq_prog\0rq_addr\0";
    let request = [5, of(kind::STRUCT, 2), 8];
    let module = made(
        &[
            (
                [behind(1), of(kind::STRUCT, 2), 8],
                &[[1, 1], [0, 1], [1, 32]],
            ),
            (
                [behind(6), of(kind::STRUCT, 2), 16],
                &[[behind(15), 1], [0, behind(23)], [4, 64]],
            ),
            (request, &[[1, 1], [0, 1], [1, 32]]),
        ],
        own,
    );
    // Another module has the same numbers for its own: `rpc_message`, and `rpc_task` with one in it.
    let client = made(
        &[
            (
                [behind(1), of(kind::STRUCT, 2), 8],
                &[[1, 1], [0, 1], [1, 32]],
            ),
            (
                [behind(13), of(kind::STRUCT, 2), 16],
                &[[behind(22), 4], [0, 1], [1, 64]],
            ),
        ],
        "\0rpc_message\0rpc_task\0tk_msg\0",
    );
    let wanted = Wanted::new(
        "request\nsvc_rqst\npeer\nrpc_task\nrpc_message",
        "btf_trace_block_rq_issue",
    );
    for (module, expected) in [(&module[..], true), (&[], false), (&module[..40], false)] {
        let reduced = reduce(&base, &[module.to_vec(), client.clone()], &wanted).unwrap();
        Btf::parse(&reduced.structs, Endianness::default()).unwrap();
        let (all, found) = All::open(&reduced.structs, &wanted).unwrap();
        let mut seen: Vec<_> = found
            .structs
            .iter()
            .map(|id| all.name(word(all.get(*id).unwrap().0, 0).unwrap()))
            .collect();
        seen.sort_unstable();
        // They lack `svc_fh`, and all else of the client.
        assert_eq!(reduced.modules, [false; 2]);
        if !expected {
            assert_eq!(seen, [&b"request"[..], b"rpc_message", b"rpc_task"]);
            continue;
        }
        let both = [
            &b"peer"[..],
            b"request",
            b"rpc_message",
            b"rpc_task",
            b"svc_rqst",
        ];
        assert_eq!(seen, both);
        let struct_of = |wanted: &[u8]| {
            let named = |id: &&u32| all.name(word(all.get(**id).unwrap().0, 0).unwrap()) == wanted;
            *found.structs.iter().find(named).unwrap()
        };
        let (rqst, ..) = all.get(struct_of(b"svc_rqst")).unwrap();
        let field = |part: usize, at: usize| word(rqst, 12 + part * 12 + at).unwrap();
        assert_eq!(all.name(field(0, 0)), b"rq_prog");
        assert_eq!(all.name(field(1, 0)), b"rq_addr");
        assert_eq!(field(1, 4), struct_of(b"peer"));
        let (_, number, _) = all.get(field(0, 4)).unwrap();
        assert_eq!((number, field(1, 8)), (kind::FLOAT, 64));
        let (task, ..) = all.get(struct_of(b"rpc_task")).unwrap();
        assert_eq!(word(task, 16), Some(struct_of(b"rpc_message")));
    }
}

#[test]
fn types_are_looked_for_by_all_their_names() {
    let of = |kind: u32| kind << 24;
    let names = "\0svc_rqst\0svc_fh\0";
    let both = made(
        &[
            ([1, of(kind::STRUCT), 8], &[]),
            ([10, of(kind::STRUCT), 8], &[]),
        ],
        names,
    );
    let wanted = Wanted::new("svc_rqst\nsvc_fh", "");
    let (all, found) = All::open(&both, &wanted).unwrap();
    let of_server = MODULES[NFS_SERVER].structs;
    assert!(are_named(&all, &found.structs, of_server));
    assert!(!are_named(&all, &found.structs[..1], of_server));
}
