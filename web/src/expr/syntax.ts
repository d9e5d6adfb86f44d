// The text of an expression, taken apart and put together again:
// `subject.measure [by dim, …] [where dim op value and …]`. Only the server decides whether an
// expression is right; this reads as much of one as is there, so that it can be completed,
// coloured and drilled into.

export type TokenKind = "name" | "keyword" | "operator" | "value" | "comma" | "point" | "open";

export interface Token {
  kind: TokenKind;
  text: string;
  from: number;
  to: number;
}

/** An expression in its parts. Predicates are kept as they were written. */
export interface Parts {
  subject: string;
  measure: string;
  by: string[];
  where: string[];
}

const KEYWORDS = new Set(["by", "where", "and", "in"]);
const OPERATORS = ["<=", ">=", "!=", "!~", "==", "=", "~", "<", ">"];
const NAME = /^[\p{L}\p{N}_-]+/u;

/** The words of an expression. After an operator or `in` stand values, up to `and`. */
export function tokens(text: string): Token[] {
  const found: Token[] = [];
  let at = 0;
  let wantsValue = false;
  const put = (kind: TokenKind, length: number): void => {
    found.push({ kind, text: text.slice(at, at + length), from: at, to: at + length });
    at += length;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const space = /^\s+/.exec(rest);
    if (space) {
      at += space[0].length;
    } else if (wantsValue && (rest[0] === '"' || rest[0] === "'")) {
      const length = quotedLength(rest);
      put(length === null ? "open" : "value", length ?? rest.length);
      wantsValue = false;
    } else if (wantsValue) {
      put("value", /^[^\s,]*/.exec(rest)![0].length || 1);
      wantsValue = false;
    } else if (rest[0] === ",") {
      wantsValue = afterList(found);
      put("comma", 1);
    } else if (rest[0] === ".") {
      put("point", 1);
    } else {
      const operator = OPERATORS.find((o) => rest.startsWith(o));
      const name = NAME.exec(rest)?.[0];
      if (operator) {
        put("operator", operator.length);
        wantsValue = true;
      } else if (name && KEYWORDS.has(name) && found.at(-1)?.kind !== "point") {
        wantsValue = name === "in";
        put("keyword", name.length);
      } else {
        put("name", name?.length ?? 1);
      }
    }
  }
  return found;
}

/** Whether a comma here goes on with the list of an `in`. */
function afterList(before: Token[]): boolean {
  for (let i = before.length - 1; i >= 0; i--) {
    const token = before[i]!;
    if (token.kind === "keyword") return token.text === "in";
  }
  return false;
}

/** The length of the quoted text at the start, with its quotes; `null` if it is never closed. */
function quotedLength(text: string): number | null {
  const quote = text[0]!;
  let at = 1;
  for (;;) {
    const end = text.indexOf(quote, at);
    if (end < 0) return null;
    if (text[end + 1] !== quote) return end + 1;
    at = end + 2;
  }
}

/** Takes an expression apart; `null` if it has no subject and measure. */
export function parts(text: string): Parts | null {
  const all = tokens(text);
  if (all[0]?.kind !== "name" || all[1]?.kind !== "point") return null;
  const statisticEnd = all.find((t) => t.kind === "keyword" && (t.text === "by" || t.text === "where"));
  const statistic = text.slice(all[1].to, statisticEnd?.from ?? text.length).trim();
  if (statistic === "") return null;
  const result: Parts = { subject: all[0].text, measure: statistic, by: [], where: [] };
  const where = all.findIndex((t) => t.kind === "keyword" && t.text === "where");
  const by = all.findIndex((t) => t.kind === "keyword" && t.text === "by");
  const byEnd = where < 0 ? all.length : where;
  if (by >= 0 && by < byEnd) {
    result.by = all.slice(by + 1, byEnd).flatMap((t) => (t.kind === "name" ? [t.text] : []));
  }
  if (where >= 0) {
    let from = all[where]!.to;
    for (const token of all.slice(where + 1)) {
      if (token.kind !== "keyword" || token.text !== "and") continue;
      result.where.push(text.slice(from, token.from).trim());
      from = token.to;
    }
    result.where.push(text.slice(from).trim());
    result.where = result.where.filter((predicate) => predicate !== "");
  }
  return result;
}

/** Puts an expression together. */
export function text(p: Parts): string {
  const by = p.by.length > 0 ? ` by ${p.by.join(", ")}` : "";
  const where = p.where.length > 0 ? ` where ${p.where.join(" and ")}` : "";
  return `${p.subject}.${p.measure}${by}${where}`;
}

/** The dimension that a predicate tests. */
export function testedDimension(predicate: string): string {
  return NAME.exec(predicate)?.[0] ?? "";
}

/** A word as a value: in quotes where it needs them. */
export function value(word: string): string {
  const plain = word !== "" && !/[\s,"']/.test(word) && !word.startsWith("(") && !word.includes("..");
  return plain || /^\([^\s,"']*\)$/.test(word) ? word : `"${word.replaceAll('"', '""')}"`;
}
