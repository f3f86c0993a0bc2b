export type Theme = 'system' | 'light' | 'dark';

const NAME = 'lastcall.theme';

/** Default: what the system says. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(NAME);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(NAME, theme);
  applyTheme();
}

/** Before anything is drawn, so that nothing flashes. */
export function applyTheme(): void {
  const theme = readTheme();
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
