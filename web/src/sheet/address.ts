// The worksheet in the page's address: `#w=` and its JSON in base64url, deflated (`d.`) where the
// browser can, else plain (`j.`).

import { brief, read } from "./worksheet";
import type { Worksheet } from "./worksheet";

/** Bytes of JSON that are read from an address; more is not a worksheet. */
const MOST_BYTES = 262144;

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

/** All bytes that come through a transforming stream; more than the limit is an error. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  transform: GenericTransformStream,
): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = (await reader.read()) as { done: boolean; value?: Uint8Array };
    if (done || !value) break;
    length += value.length;
    if (length > MOST_BYTES) throw new RangeError("too long for a worksheet");
    pieces.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** The part of an address behind `#`. */
export async function encode(sheet: Worksheet): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(brief(sheet)));
  if (typeof CompressionStream === "undefined") return `w=j.${toBase64(bytes)}`;
  return `w=d.${toBase64(await through(bytes, new CompressionStream("deflate-raw")))}`;
}

/** Reads that again; `null` if there is none, or it is damaged. */
export async function decode(fragment: string): Promise<Worksheet | null> {
  const found = /^#?w=([dj])\.([\w-]+)$/.exec(fragment);
  if (!found) return null;
  try {
    let bytes: Uint8Array = fromBase64(found[2]!);
    if (found[1] === "d") {
      bytes = await through(bytes as Uint8Array<ArrayBuffer>, new DecompressionStream("deflate-raw"));
    }
    return read(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}
