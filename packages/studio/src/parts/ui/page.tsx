import { type ReactElement, type ReactNode, useEffect } from 'react';

interface PageProps {
  /** The heading, and the window's title. */
  readonly title: string;
  /** Beside the heading: buttons, states. */
  readonly aside?: ReactNode;
  /** Under the heading, e.g. tabs or filters. */
  readonly below?: ReactNode;
  /** The content fills the rest of the window, and scrolls by itself. */
  readonly isFilled?: boolean;
  readonly children: ReactNode;
}

/** A page with a heading, which scrolls by itself. */
export function Page({ title, aside, below, isFilled = false, children }: PageProps): ReactElement {
  useTitle(title);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex flex-col gap-2 border-b border-line bg-surface px-4 py-3">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <h1 className="mr-auto min-w-0 text-xl font-semibold">
            <bdi>{title}</bdi>
          </h1>
          {aside}
        </div>
        {below}
      </header>
      {isFilled ? (
        <div className="min-h-0 flex-1">{children}</div>
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto p-4">
          <div className="mx-auto flex max-w-5xl flex-col gap-4">{children}</div>
        </div>
      )}
    </div>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Lastcall`;
  }, [title]);
}

/** A part of a page with a heading. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}): ReactElement {
  return (
    <section aria-label={title} className="flex flex-col gap-2 rounded-card border border-line bg-surface p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
