// Hierarchies: stacked devices, control groups, directories, with the sums at each level.

import type { Hierarchy, Maybe } from "../api/types";

/** Dimensions with levels. Amounts of a group are without its children's, so that they add up. */
export const LEVELS: Record<string, "adds" | "shows"> = {
  cgroup: "adds",
  file: "adds",
  path: "adds",
  // What a stacked device does its disks do again: a sum would count it twice.
  device: "shows",
};

export interface Node {
  name: string;
  /** The last part of the name, where the rest is the parent's. */
  short: string;
  own: Maybe;
  /** With all below it; for stacked devices the same as its own. */
  sum: Maybe;
  children: Node[];
}

/** Parents by the slashes of the names themselves: `/a/b` lies in `/a`. */
export function bySlashes(names: string[]): Hierarchy {
  const children: Record<string, string[]> = {};
  const roots = new Set<string>();
  const seen = new Set<string>();
  const put = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const cut = name.lastIndexOf("/");
    const parent = cut > 0 ? name.slice(0, cut) : cut === 0 && name !== "/" ? "/" : null;
    if (parent === null) {
      roots.add(name);
      return;
    }
    (children[parent] ??= []).push(name);
    put(parent);
  };
  names.forEach(put);
  return { children, roots: [...roots] };
}

/** The tree of the amounts; largest first. Names that the hierarchy does not know are roots. */
export function tree(amounts: Map<string, Maybe>, hierarchy: Hierarchy, adds: boolean): Node[] {
  const placed = new Set<string>();
  const build = (name: string, parent: string, above: Set<string>): Node | null => {
    // A ring of names is cut where it closes.
    if (above.has(name)) return null;
    const path = new Set(above).add(name);
    placed.add(name);
    const nodes = (hierarchy.children[name] ?? []).flatMap((child) => build(child, name, path) ?? []);
    const own = amounts.get(name) ?? null;
    if (own === null && nodes.length === 0) return null;
    const parts = [own, ...nodes.map((node) => node.sum)].filter((v): v is number => v !== null);
    const sum = adds && parts.length > 0 ? parts.reduce((a, b) => a + b, 0) : own;
    const short = parent !== "" && name.startsWith(parent) ? name.slice(parent.length).replace(/^\//, "") : name;
    return { name, short: short || name, own, sum, children: bySize(nodes) };
  };
  const roots = hierarchy.roots.flatMap((root) => build(root, "", new Set()) ?? []);
  for (const name of amounts.keys()) {
    if (placed.has(name)) continue;
    const alone = build(name, "", new Set());
    if (alone) roots.push(alone);
  }
  return bySize(roots);
}

function bySize(nodes: Node[]): Node[] {
  return [...nodes].sort((a, b) => (b.sum ?? 0) - (a.sum ?? 0));
}
