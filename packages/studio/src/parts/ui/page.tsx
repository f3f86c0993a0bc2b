import { type ReactElement, type ReactNode, useEffect } from 'react';

interface PageProps {
  /** The heading, and the window's title. */
  readonly title: string;
  /** Before the heading, e.g. an avatar. */
  readonly mark?: ReactNode;
  /** Beside the heading: buttons, states. */
  readonly aside?: ReactNode;
  /** Under the heading, e.g. tabs or filters. */
  readonly below?: ReactNode;
  /** The content fills the rest of the window, and scrolls by itself. */
  readonly isFilled?: boolean;
  readonly children: ReactNode;
}

/** A page with a heading, which scrolls by itself. */
export function Page({ title, mark, aside, below, isFilled = false, children }: PageProps): ReactElement {
  useTitle(title);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className={headerClass}>
        <div className="column flex flex-col gap-3">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
            {mark}
            <h1 className={`mr-auto min-w-0 ${headingClass}`}>
              <bdi>{title}</bdi>
            </h1>
            {aside}
          </div>
          {below}
        </div>
      </header>
      {isFilled ? (
        <div className="min-h-0 flex-1">{children}</div>
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto px-4 py-4 wide:[scrollbar-gutter:stable] wide:px-6 wide:py-6">
          <div className="column flex flex-col gap-4">{children}</div>
        </div>
      )}
    </div>
  );
}

/** The header of every page. */
export const wholeHeaderClass = 'shrink-0 border-b border-line bg-surface px-4 py-3 wide:px-6 wide:pt-4';
/** The same above a list that scrolls in a column. */
export const headerClass: string = `beside-scroll-bar ${wholeHeaderClass}`;
/** The first heading of every page. */
export const headingClass = 'text-xl font-semibold wide:text-2xl';

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
    <section aria-label={title} className="flex flex-col gap-3 rounded-card border border-line bg-surface p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-xl font-semibold">{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}
