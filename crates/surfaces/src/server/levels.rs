//! Amounts level by level: directories and the files in them, control groups and those below,
//! stacked devices and what they are made of.

use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::sync::Arc;

use analysis::bounds::Bounds;
use analysis::parse;
use analysis::window::{Pictured, Window, window};
use axum::Json;
use axum::extract::State;
use run::Run;
use run::catalog::{self, Kind};
use run::inventory::Inventory;
use serde_json::{Value, json};

use super::Serving;
use super::asked::Asked;
use super::picture::Number;
use super::refused::Refused;
use super::runs::since;
use super::stack::{self, Stack};

/// Dimensions whose names are paths. Amounts of a name are without those of the names below it.
const PATHS: &[&str] = &["cgroup", "file", "path"];

/// Nodes in one answer; those with the largest sums. Of the others, how many there are and their
/// sum.
const MOST: usize = 2000;

/// Nodes told of one level.
const MOST_CHILDREN: usize = 100;

/// Levels; what lies deeper hangs on the last.
const DEEPEST: usize = 64;

/// Answers an expression level by level.
pub(super) async fn levels(
    State(serving): State<Arc<Serving>>,
    asked: Asked,
) -> Result<Json<Value>, Refused> {
    let text = asked.needed("expr")?.to_owned();
    let (run, _) = serving.run(&asked)?;
    let inventory = serving.inventory(&asked)?;
    let window = asked.window(&run, asked.count("width", 1..=8192, 1000)?)?;
    let work = move |bounds: &Arc<_>| of(&run, &inventory, &text, &window, bounds);
    serving.answers.work_out(work).await.map(Json)
}

/// The answer to `text` over the window, level by level.
pub(super) fn of(
    run: &Run,
    inventory: &Inventory,
    text: &str,
    asked: &Window,
    bounds: &Arc<Bounds>,
) -> Result<Value, Refused> {
    let expression = parse(text).map_err(|e| Refused::from(analysis::Error::from(e)))?;
    let of_paths = |name: &str| PATHS.contains(&name);
    let mut by = expression.by.iter().map(|d| d.text.as_str());
    let Some(dimension) = by.find(|name| of_paths(name) || *name == "device") else {
        return Err(Refused::bad(
            "nothing in it has levels\nhint: `by device`, `by cgroup`, `by file` or `by path`",
        ));
    };
    let pictured = match whole_stack(text).map(|wider| window(run, &wider, asked, bounds)) {
        // No table has the layers too.
        None | Some(Err(_)) => window(run, text, asked, bounds)?,
        Some(answered) => answered?,
    };
    let kind = pictured.answer.kind;
    let adds = of_paths(dimension) && matches!(kind, Some(Kind::Sum | Kind::Level));
    let amounts = amounts(&pictured, dimension);
    let mut tree = if of_paths(dimension) {
        Tree::of_paths(&amounts)
    } else {
        Tree::of_stack(&amounts, &stack::of(inventory))
    };
    tree.sum_up(adds);
    let chosen = tree.largest();
    let told = tree.told(&chosen, None, adds);
    Ok(json!({
        "expr": text, "dimension": dimension, "adds": adds,
        "unit": if kind == Some(Kind::Sum) { pictured.answer.unit.name() } else { pictured.answer.value_unit() },
        "names": amounts.len(),
        "from": since(run, pictured.grid.from).max(0.0),
        "to": since(run, pictured.grid.to().min(run.ended())),
        "roots": told["children"], "others": told["others"],
    }))
}

/// The same expression of all layers of devices, where it would be of whole disks only.
fn whole_stack(text: &str) -> Option<String> {
    let expression = parse(text).ok()?;
    let subject = catalog::subject(&expression.subject.text)?;
    let device = expression.by.iter().any(|d| d.text == "device");
    let implied = subject
        .unless_named
        .iter()
        .find(|u| u.dimension == "layer")?;
    let by = expression.by.iter().map(|d| &d.text);
    let tested = expression.predicates.iter().map(|p| &p.dimension.text);
    let mut named = by.filter(|d| *d == "layer").chain(tested);
    if !device || named.any(|d| d == "layer" || implied.dimensions.contains(&d.as_str())) {
        return None;
    }
    let (_, end) = expression.by.last()?.span;
    Some(format!("{}, layer{}", &text[..end], &text[end..]))
}

/// Amounts by name; what else the groups are split by is added up.
fn amounts(pictured: &Pictured, dimension: &str) -> BTreeMap<String, f64> {
    let answer = &pictured.answer;
    let place = answer.by.iter().position(|by| by.name == dimension);
    let mut all: BTreeMap<String, f64> = BTreeMap::new();
    for group in &answer.groups {
        let Some(name) = place.and_then(|p| super::picture::words(&group.key).into_iter().nth(p))
        else {
            continue;
        };
        let value = match answer.kind {
            Some(Kind::Sum) => group.total.unwrap_or(f64::NAN),
            _ => group.mean,
        };
        if value.is_finite() {
            *all.entry(name).or_default() += value;
        }
    }
    all
}

/// A name on a level.
#[derive(Debug)]
struct Node {
    name: String,
    own: Option<f64>,
    /// With all below it, where that adds up.
    sum: f64,
    children: Vec<usize>,
    parent: Option<usize>,
}

#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    roots: Vec<usize>,
}

impl Tree {
    fn put(&mut self, name: &str, own: Option<f64>, parent: Option<usize>) -> usize {
        let place = self.nodes.len();
        self.nodes.push(Node {
            name: name.to_owned(),
            own,
            sum: 0.0,
            children: vec![],
            parent,
        });
        match parent {
            Some(parent) => self.nodes[parent].children.push(place),
            None => self.roots.push(place),
        }
        place
    }

    /// Each path below the one it is in.
    fn of_paths(amounts: &BTreeMap<String, f64>) -> Tree {
        let mut tree = Tree::default();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (name, amount) in amounts {
            let mut line = vec![name.as_str()];
            while let Some(above) = parent(line[line.len() - 1]) {
                line.push(above);
            }
            // From the outermost inwards, without the levels that are too many.
            let deep = line.len().saturating_sub(DEEPEST);
            line.drain(1..=deep.min(line.len() - 1));
            let mut above = None;
            for part in line.into_iter().rev() {
                let place = match places.get(part) {
                    Some(place) => *place,
                    None => {
                        let place = tree.put(part, None, above);
                        places.insert(part, place);
                        place
                    }
                };
                above = Some(place);
            }
            if let Some(place) = above {
                tree.nodes[place].own = Some(*amount);
            }
        }
        tree
    }

    /// Each device above those it is made of, which may be below several.
    fn of_stack(amounts: &BTreeMap<String, f64>, stack: &Stack) -> Tree {
        let mut tree = Tree::default();
        let below: Vec<&String> = stack.parts.values().flatten().collect();
        let known = amounts.keys().chain(stack.parts.keys());
        let mut roots: Vec<&String> = known.filter(|name| !below.contains(name)).collect();
        // A ring of devices has no top: one that would be left out is a root.
        for name in amounts.keys() {
            if !stack.reaches(&roots, name) {
                roots.push(name);
            }
        }
        roots.sort_unstable();
        roots.dedup();
        for root in roots {
            tree.put_stack(root, None, amounts, stack, &mut vec![]);
        }
        tree
    }

    /// With all below it of which something is known.
    fn put_stack<'s>(
        &mut self,
        name: &'s String,
        parent: Option<usize>,
        amounts: &BTreeMap<String, f64>,
        stack: &'s Stack,
        above: &mut Vec<&'s String>,
    ) {
        let wanted = |name: &String| stack.has_amount(name, amounts);
        if above.contains(&name) || above.len() >= DEEPEST || !wanted(name) {
            return;
        }
        let place = self.put(name, amounts.get(name).copied(), parent);
        above.push(name);
        for part in stack.parts.get(name).into_iter().flatten() {
            self.put_stack(part, Some(place), amounts, stack, above);
        }
        above.pop();
    }

    fn sum_up(&mut self, adds: bool) {
        for place in 0..self.nodes.len() {
            let Some(own) = self.nodes[place].own else {
                continue;
            };
            let mut at = Some(place);
            while let Some(place) = at {
                self.nodes[place].sum += own;
                at = self.nodes[place].parent.filter(|_| adds);
            }
        }
    }

    fn children(&self, of: Option<usize>) -> Vec<usize> {
        let mut all = match of {
            Some(place) => self.nodes[place].children.clone(),
            None => self.roots.clone(),
        };
        all.sort_by(|a, b| self.nodes[*b].sum.total_cmp(&self.nodes[*a].sum));
        all
    }

    /// Whether each node is among the largest, of which no level has too many.
    fn largest(&self) -> Vec<bool> {
        let mut chosen = vec![false; self.nodes.len()];
        // Sums of amounts that are not below zero sort as their bits do.
        let entry = |place: &usize| (self.nodes[*place].sum.max(0.0).to_bits(), *place);
        let first = |of| self.children(of).into_iter().take(MOST_CHILDREN);
        let mut heap: BinaryHeap<(u64, usize)> = first(None).map(|p| entry(&p)).collect();
        for _ in 0..MOST {
            let Some((_, place)) = heap.pop() else { break };
            chosen[place] = true;
            heap.extend(first(Some(place)).map(|p| entry(&p)));
        }
        chosen
    }

    fn told(&self, chosen: &[bool], of: Option<usize>, adds: bool) -> Value {
        let children = self.children(of);
        let (shown, left): (Vec<usize>, Vec<usize>) = children.iter().partition(|c| chosen[**c]);
        let shown: Vec<Value> = shown
            .into_iter()
            .map(|place| {
                let node = &self.nodes[place];
                let told = self.told(chosen, Some(place), adds);
                json!({
                    "name": node.name, "own": node.own.map(Number),
                    "sum": (adds || node.own.is_some()).then_some(Number(node.sum)),
                    "children": told["children"], "others": told["others"],
                })
            })
            .collect();
        let rest: f64 = left.iter().map(|place| self.nodes[*place].sum).sum();
        let sum = adds.then_some(Number(rest));
        let others = (!left.is_empty()).then(|| json!({"count": left.len(), "sum": sum}));
        json!({"children": shown, "others": others})
    }
}

/// The directory that a path is in.
fn parent(path: &str) -> Option<&str> {
    let trimmed = path.trim_end_matches('/');
    let at = trimmed.rfind('/')?;
    if trimmed.is_empty() {
        None
    } else if at == 0 {
        Some("/")
    } else {
        Some(&trimmed[..at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(all: &[(&str, f64)]) -> BTreeMap<String, f64> {
        all.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
    }

    fn told(mut tree: Tree, adds: bool) -> Value {
        tree.sum_up(adds);
        tree.told(&tree.largest(), None, adds)
    }

    /// The node of that name, wherever it is.
    fn find<'v>(told: &'v Value, name: &str) -> Option<&'v Value> {
        let children = told["children"].as_array()?;
        let here = children.iter().find(|c| c["name"] == name);
        here.or_else(|| children.iter().find_map(|c| find(c, name)))
    }

    #[test]
    fn parents_are_directories() {
        let cases = [
            ("/", None),
            ("", None),
            ("/a", Some("/")),
            ("/a/b", Some("/a")),
            ("/a/b/", Some("/a")),
            ("(unknown)", None),
            ("a/b", Some("a")),
        ];
        for (path, wanted) in cases {
            assert_eq!(parent(path), wanted, "{path}");
        }
    }

    #[test]
    fn directories_sum_up_what_lies_in_them() {
        let all = amounts(&[
            ("/srv/a/x", 5.0),
            ("/srv/a/y", 7.0),
            ("/srv/b", 1.0),
            ("/srv/a", 2.0),
            ("(other)", 4.0),
        ]);
        let told = told(Tree::of_paths(&all), true);
        let a = find(&told, "/srv/a").unwrap();
        assert_eq!((&a["own"], &a["sum"]), (&json!(2), &json!(14)));
        let srv = find(&told, "/srv").unwrap();
        assert_eq!((&srv["own"], &srv["sum"]), (&Value::Null, &json!(15)));
        assert_eq!(told["children"][0]["name"], "/");
        assert_eq!(told["children"][1]["name"], "(other)");
        assert_eq!(told["others"], Value::Null);
    }

    #[test]
    fn a_million_files_are_bounded_and_their_sums_are_not_cut() {
        let names = (0..100_000).map(|i| (format!("/data/{}/{i}", i % 300), 1.0 + f64::from(i)));
        let all: BTreeMap<String, f64> = names.collect();
        let whole: f64 = all.values().sum();
        let mut tree = Tree::of_paths(&all);
        tree.sum_up(true);
        let chosen = tree.largest();
        assert!(chosen.iter().filter(|c| **c).count() <= MOST);
        let told = tree.told(&chosen, None, true);
        let data = find(&told, "/data").unwrap();
        assert_eq!(data["sum"].as_f64(), Some(whole));
        let parts = data["children"].as_array().unwrap();
        assert_eq!(parts.len(), MOST_CHILDREN);
        let told: f64 = parts.iter().map(|p| p["sum"].as_f64().unwrap()).sum();
        assert_eq!(data["others"]["count"], 200);
        assert_eq!(told + data["others"]["sum"].as_f64().unwrap(), whole);
    }

    #[test]
    fn paths_without_end_do_not_go_down_without_end() {
        let deep = "/a".repeat(3000);
        let told = told(Tree::of_paths(&amounts(&[(&deep, 3.0)])), true);
        assert_eq!(find(&told, "/").unwrap()["sum"], 3);
        assert_eq!(find(&told, &deep).unwrap()["own"], 3);
    }

    #[test]
    fn a_stacked_device_is_not_added_to_its_disks() {
        let inventory = Inventory {
            sections: json!({"block": {
                "sda": {"partitions": {"sda1": {}}}, "sdb": {},
                "md0": {"made_of": ["sda1", "sdb"]}, "dm-0": {"made_of": ["md0"]},
                "ring1": {"made_of": ["ring2"]}, "ring2": {"made_of": ["ring1"]},
            }}),
            problem: None,
        };
        let all = [
            ("dm-0", 9.0),
            ("md0", 9.0),
            ("sda", 5.0),
            ("sdb", 4.0),
            ("nvme0n1", 1.0),
            ("ring2", 2.0),
        ];
        let told = told(
            Tree::of_stack(&amounts(&all), &stack::of(&inventory)),
            false,
        );
        let roots: Vec<&Value> = told["children"].as_array().unwrap().iter().collect();
        let names: Vec<&Value> = roots.iter().map(|r| &r["name"]).collect();
        assert_eq!(names, ["dm-0", "ring2", "nvme0n1"]);
        assert_eq!(roots[0]["sum"], 9);
        let md0 = find(&told, "md0").unwrap();
        assert_eq!(md0["sum"], 9);
        // Of the partition itself nothing was recorded.
        let part = find(md0, "sda1").unwrap();
        assert_eq!((&part["own"], &part["sum"]), (&Value::Null, &Value::Null));
        assert_eq!(find(part, "sda").unwrap()["sum"], 5);
    }

    #[test]
    fn all_layers_are_asked_for_unless_one_is_named() {
        let wider = |text| whole_stack(text);
        assert_eq!(
            wider("disk.bytes by device where op = read").as_deref(),
            Some("disk.bytes by device, layer where op = read")
        );
        for text in [
            "disk.bytes by device where layer = disk",
            "disk.bytes by device, layer",
            "disk.bytes by device where device = sda",
            "disk.bytes by op",
            "cgroup.time by cgroup",
            "nonsense",
        ] {
            assert_eq!(wider(text), None, "{text}");
        }
    }
}
