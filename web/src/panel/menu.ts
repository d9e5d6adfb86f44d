// A menu at a place in the page, for the mouse and for the keyboard.

import { h } from "../dom";

export interface Item {
  label: string;
  /** At the right, faint. */
  note?: string;
  act?: () => void;
  /** On, for a choice. */
  on?: boolean;
  disabled?: boolean;
  /** A heading instead of something to choose. */
  heading?: boolean;
}

let open: { close: (back: boolean) => void } | null = null;

/** Closes the menu that is open, if one is. */
export function closeMenu(): void {
  open?.close(false);
}

/** Opens a menu. Arrow keys walk, letters find, Escape closes and goes back to where one was. */
export function openMenu(title: string, items: Item[], at: { x: number; y: number }, closed: () => void = () => undefined): void {
  closeMenu();
  const before = document.activeElement as HTMLElement | null;
  const list = h("div", { class: "menu", role: "menu", "aria-label": title, tabindex: -1 }, h("p", { class: "menu-title" }, title));
  const close = (back: boolean): void => {
    if (open?.close !== close) return;
    open = null;
    list.remove();
    document.removeEventListener("pointerdown", outside, true);
    if (back) before?.focus({ preventScroll: true });
    closed();
  };
  const outside = (event: PointerEvent): void => {
    if (!list.contains(event.target as globalThis.Node)) close(false);
  };
  const buttons = items.map((item) => line(item, close));
  list.append(...buttons);
  list.addEventListener("keydown", (event) => keys(event, list, close));
  document.body.append(list);
  open = { close };
  place(list, at);
  document.addEventListener("pointerdown", outside, true);
  list.querySelector<HTMLElement>("button:not([disabled])")?.focus({ preventScroll: true });
}

function line(item: Item, close: (back: boolean) => void): HTMLElement {
  if (item.heading) return h("p", { class: "menu-heading", role: "presentation" }, item.label);
  return h(
    "button",
    {
      type: "button",
      role: item.on === undefined ? "menuitem" : "menuitemcheckbox",
      "aria-checked": item.on === undefined ? null : String(item.on),
      disabled: item.disabled,
      onclick: () => {
        close(true);
        item.act?.();
      },
    },
    h("span", {}, item.label),
    item.note ? h("small", {}, item.note) : null,
  );
}

function keys(event: KeyboardEvent, list: HTMLElement, close: (back: boolean) => void): void {
  const buttons = [...list.querySelectorAll<HTMLButtonElement>("button:not([disabled])")];
  const here = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const go = (to: number): void => {
    event.preventDefault();
    buttons[(to + buttons.length) % buttons.length]?.focus();
  };
  event.stopPropagation();
  if (event.key === "Escape" || event.key === "Tab") {
    event.preventDefault();
    close(true);
  } else if (event.key === "ArrowDown") go(here + 1);
  else if (event.key === "ArrowUp") go(here - 1);
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(-1);
  else if (event.key.length === 1 && event.key !== " ") {
    const letter = event.key.toLowerCase();
    const order = [...buttons.slice(here + 1), ...buttons.slice(0, here + 1)];
    order.find((b) => b.textContent.toLowerCase().replace(/^by /, "").startsWith(letter))?.focus();
  }
}

function place(list: HTMLElement, at: { x: number; y: number }): void {
  const box = list.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.x, window.innerWidth - box.width - 8));
  const top = Math.max(8, Math.min(at.y + 4, window.innerHeight - box.height - 8));
  list.style.left = `${left}px`;
  list.style.top = `${top}px`;
}
