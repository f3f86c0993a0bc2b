/** What there is of a page, where there is one. */
const page = globalThis as {
  readonly document?: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> & { readonly hidden: boolean };
};

export function isPageHidden(): boolean {
  return page.document?.hidden === true;
}

/**
 * Calls once the page has been in the background for so long, or other tabs of the site have opened so many connections since that
 * the next one would get none. Returns a function that stops waiting.
 */
export function onceHidden(hiddenMs: number | undefined, then: () => void): () => void {
  if (hiddenMs === undefined || page.document === undefined) return () => {};
  const tabs = new BroadcastChannel('lastcall-connections');
  let timer: ReturnType<typeof setTimeout> | undefined;
  let opened = 0;
  const look = (): void => {
    clearTimeout(timer);
    opened = 0;
    if (isPageHidden()) timer = setTimeout(then, hiddenMs);
  };
  tabs.onmessage = () => {
    opened += 1;
    if (isPageHidden() && opened >= OTHERS) then();
  };
  tabs.postMessage('opening');
  look();
  page.document.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    tabs.close();
    page.document?.removeEventListener('visibilitychange', look);
  };
}

/** A browser has six connections to a host: with three others, two are left for requests. */
const OTHERS = 3;

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
