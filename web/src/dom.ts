// Elements from code: no page of this program is ever put together as text, so no name of a file
// or process can become markup.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

/** An element. Attributes: `onclick` and the like are listeners, `true` stands for "". */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

/** An element of a drawing. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  apply(element, attributes);
  element.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
  return element;
}

function apply(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.replace(/^on/, ""), value as unknown as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
}

/** Sets a property of the style through the object model, which a strict policy allows. */
export function style<E extends HTMLElement | SVGElement>(element: E, properties: Record<string, string>): E {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(name, value);
  return element;
}

/** A button with a name for screen readers and a tip. */
export function button(label: string, tip: string, act: (event: MouseEvent) => void, more: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", title: tip, "aria-label": tip, onclick: act, ...more }, label);
}

/** Whether the reader is typing somewhere, so that letters are no commands. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement
  );
}

/** Calls once things have been quiet for a while. */
export function settled(wait: number, act: () => void): () => void {
  let timer = 0;
  return () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(act, wait);
  };
}
