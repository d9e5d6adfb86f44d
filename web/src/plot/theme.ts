// The page's colours as the canvases need them. They are the stylesheet's custom properties.

export interface Theme {
  dark: boolean;
  text: string;
  faint: string;
  grid: string;
  accent: string;
  band: string;
  hatch: string;
  panel: string;
}

/** Whether the page is dark: by the reader's choice, else by the system's. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "dark" || chosen === "light") return chosen === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

export function theme(): Theme {
  const styles = getComputedStyle(document.documentElement);
  const property = (name: string): string => styles.getPropertyValue(name).trim();
  return {
    dark: isDark(),
    text: property("--text"),
    faint: property("--faint"),
    grid: property("--grid"),
    accent: property("--accent"),
    band: property("--band"),
    hatch: property("--hatch"),
    panel: property("--panel"),
  };
}

/** The font of axes. */
export const FONT = '11px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
