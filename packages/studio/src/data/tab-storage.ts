/** Keeps a text while the tab is open. Without a text, it is removed. */
export function keepInTab(name: string, text: string | undefined): void {
  try {
    if (text === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, text);
  } catch {
    // The browser has no room for it, and a page that threw here would be lost. What was kept before would be an older text.
    sessionStorage.removeItem(name);
  }
}

/** What is kept under the name as JSON. Undefined if there is nothing, or nothing that can be read. */
export function readJsonInTab<T>(name: string): T | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(name) ?? '') as T;
  } catch {
    return undefined;
  }
}
