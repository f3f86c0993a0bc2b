export type Theme = 'system' | 'light' | 'dark';

const NAME = 'lastcall.theme';

/** Default: the system's theme. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(NAME);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(NAME, theme);
  applyTheme();
}

/** Runs before the first paint, so that the page does not flash in the other theme. */
export function applyTheme(): void {
  const theme = readTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
