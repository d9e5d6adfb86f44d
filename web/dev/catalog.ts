// The part of the catalog that the made-up machine can answer.

import type { Catalog, Dimension, Kind, Measure } from "../src/api/types";

const measure = (name: string, kind: Kind, unit: string, help: string): Measure => ({ name, kind, unit, help });
const word = (name: string, help: string): Dimension => ({ name, help, number: null });
const number = (name: string, help: string): Dimension => ({ name, help, number: "seconds" });

export const CATALOG: Catalog = {
  operators: ["=", "!=", "~", "!~", "<", "<=", ">", ">=", "in"],
  subjects: [
    {
      name: "cpu",
      help: "Time of the processors.",
      measures: [measure("time", "sum", "seconds", "Time in use.")],
      derived: [{ name: "utilisation", unit: "ratio", help: "Share of the processors' time in use." }],
      dimensions: [word("mode", "user, system, irq, softirq, nice."), word("process", "Process."), word("command", "Name of the program."), word("cgroup", "Control group.")],
    },
    {
      name: "disk",
      help: "Block devices. Counts whole disks once; name a device or a layer to see the others.",
      measures: [
        measure("ios", "sum", "count", "I/Os completed."),
        measure("bytes", "sum", "bytes", "Bytes read and written; a discard moves none."),
        measure("time", "sum", "seconds", "Time of the I/Os added up, from queueing to completion."),
      ],
      derived: [{ name: "mean_latency", unit: "seconds", help: "Mean time of an I/O." }],
      dimensions: [
        word("device", "Name of the device: sda, nvme0n1, md0, loop3."),
        word("layer", "disk, partition, stacked."),
        word("op", "read, write, discard, flush."),
        word("process", "Process that read or wrote, as name[pid@start]."),
        word("command", "Name of the program that read or wrote."),
        word("cgroup", "Control group charged for the I/O."),
        word("file", "File that was read or written."),
        number("latency", "Time from queueing to completion."),
        number("queue_time", "Time in the scheduler."),
        number("offset", "Place on the device."),
      ],
    },
    {
      name: "net",
      help: "Network interfaces.",
      measures: [measure("bytes", "sum", "bytes", "Bytes received and sent.")],
      derived: [],
      dimensions: [word("interface", "Name of the interface."), word("direction", "receive, transmit.")],
    },
    {
      name: "memory",
      help: "Physical memory and swap.",
      measures: [measure("bytes", "level", "bytes", "Memory by what it is used for.")],
      derived: [],
      dimensions: [word("kind", "anonymous, cache, slab, free.")],
    },
    {
      name: "cgroup",
      help: "Control groups. Amounts are a group's own, without its children's.",
      measures: [measure("time", "sum", "seconds", "Processor time.")],
      derived: [],
      dimensions: [word("cgroup", "Path of the group."), word("mode", "user, system.")],
    },
    { name: "nfs", help: "NFS client, per mount and operation; `where side = server` asks for `nfsd`.", measures: [measure("ops", "sum", "count", "Operations.")], derived: [], dimensions: [word("mount", "Where it is mounted.")] },
  ],
};
