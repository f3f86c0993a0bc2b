import type { Session } from '../session/session.ts';
import { builtInSlice, type SessionEvent, type Slice } from '../session/slice.ts';

/** How many sections may be opened in one run: an opened section stays in every request until the run ends. */
export const MOST_OPENINGS = 10;

/** A model opened sections in full. */
export interface SectionsOpened extends SessionEvent {
  readonly type: 'SectionsOpened';
  /** The prompt they belong to: two prompts on one session may use the same keys. */
  readonly prompt: string;
  readonly keys: readonly string[];
}

/** A run starts: sections that an earlier run opened are closed again, unless the session keeps them open. */
export interface RunStarted extends SessionEvent {
  readonly type: 'RunStarted';
  readonly keepsOpened?: boolean;
}

export interface OpenedSections {
  /** The open sections, each as `prompt#path`. */
  readonly keys: readonly string[];
  readonly openings: number;
}

const NOTHING: OpenedSections = { keys: [], openings: 0 };

/** The sections opened in this run. It is state like any other: a failed call and a rewind close what they opened. */
export const openedSections: Slice<OpenedSections> = builtInSlice<OpenedSections>('lastcall.opened-sections', {
  initial: NOTHING,
  on: {
    SectionsOpened: (opened, { prompt, keys }: SectionsOpened) => ({
      keys: [...new Set([...opened.keys, ...keys.map((key) => qualify(prompt, key))])],
      openings: opened.openings + keys.length,
    }),
    RunStarted: (opened, { keepsOpened = false }: RunStarted) => {
      if (opened.openings === 0) return opened;
      return keepsOpened ? { ...opened, openings: 0 } : NOTHING;
    },
  },
});

/** The paths of a prompt's sections that are open. */
export function openedIn(session: Session, prompt: string): ReadonlySet<string> {
  const mark = qualify(prompt, '');
  const own = session.read(openedSections).keys.filter((key) => key.startsWith(mark));
  return new Set(own.map((key) => key.slice(mark.length)));
}

function qualify(prompt: string, key: string): string {
  return `${prompt}#${key}`;
}
