import { type ErrorComponentProps, lazyRouteComponent, useRouter } from '@tanstack/react-router';
import { type ReactElement, useEffect } from 'react';
import { EVERY_MS } from '../data/every.ts';
import { gatewayResponds } from '../data/status.ts';
import { ErrorNote } from '../parts/ui/error-note.tsx';
import { Page } from '../parts/ui/page.tsx';

/** The file of a page cannot be loaded because the gateway does not respond. */
class PageNotLoaded extends Error {
  constructor(cause: unknown) {
    super('The gateway does not respond. The page appears as soon as it does.', { cause });
  }
}

/** A page that is loaded when it is opened. */
export function loadPage<T extends Record<string, unknown>, K extends keyof T & string>(
  load: () => Promise<T>,
  name: K,
): ReturnType<typeof lazyRouteComponent<T, K>> {
  return lazyRouteComponent<T, K>(() => load().catch(whyNotLoaded), name);
}

/**
 * The router loads the whole studio again if a file is missing, which is right after an update of the gateway. While the gateway does not
 * respond, the browser would show its own error page instead of the studio.
 */
async function whyNotLoaded(cause: unknown): Promise<never> {
  throw (await gatewayResponds()) ? cause : new PageNotLoaded(cause);
}

/** Shown in place of a page that cannot be loaded or drawn. The rest of the studio stays. */
export function PageFailed({ error }: ErrorComponentProps): ReactElement {
  const router = useRouter();
  const isNotLoaded = error instanceof PageNotLoaded;
  useEffect(() => {
    if (!isNotLoaded) return;
    const timer = setInterval(() => void loadAgain(), EVERY_MS);
    return () => clearInterval(timer);
  }, [isNotLoaded]);
  return (
    <Page title="Not shown">
      <ErrorNote
        error={error}
        title={isNotLoaded ? 'This page was not loaded.' : 'This page cannot be shown.'}
        retry={() => void (isNotLoaded ? loadAgain() : router.invalidate())}
      />
    </Page>
  );
}

/** A browser asks for a file that it could not load only after the whole page is loaded again. */
async function loadAgain(): Promise<void> {
  if (await gatewayResponds()) location.reload();
}
