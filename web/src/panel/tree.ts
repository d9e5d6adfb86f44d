// Dimensions with levels: stacked devices, control groups, directories.

/** Those that the server can tell level by level, with the sums at each. */
export const LEVELLED: readonly string[] = ["device", "cgroup", "file", "path"];

/** The first of them that an expression is split by. */
export function levelled(by: readonly string[]): string | null {
  return by.find((dimension) => LEVELLED.includes(dimension)) ?? null;
}

/** The part of a name that the level above does not say already. */
export function shortName(name: string, above: string): string {
  const within = above !== "" && name.startsWith(above) ? name.slice(above.length).replace(/^\//, "") : name;
  return within || name;
}
