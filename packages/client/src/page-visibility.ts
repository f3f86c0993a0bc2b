/** What there is of a page, where there is one. */
const page = globalThis as {
  readonly document?: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & { readonly hidden: boolean };
};

export function isPageHidden(): boolean {
  return page.document?.hidden === true;
}

/** Calls once the page has been in the background for so long. Returns a function that stops waiting. */
export function onceHidden(hiddenMs: number | undefined, then: () => void): () => void {
  if (hiddenMs === undefined) return () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (isPageHidden()) timer = setTimeout(then, hiddenMs);
  };
  look();
  page.document?.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    page.document?.removeEventListener('visibilitychange', look);
  };
}

/** Resolves once the page is shown, or the signal is aborted. */
export function onceShown(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isPageHidden() && signal?.aborted !== true) return;
      page.document?.removeEventListener('visibilitychange', look);
      signal?.removeEventListener('abort', look);
      resolve();
    };
    page.document?.addEventListener('visibilitychange', look);
    signal?.addEventListener('abort', look);
    look();
  });
}
