import type { SessionJson } from '@lastcall/core';
import { openedSections } from '@lastcall/core/internal';

/** A stored session in which no section is open, and the sections that were. */
interface ClosedSections {
  readonly session: SessionJson;
  readonly closed: readonly string[];
}

/**
 * Closes the sections that the agent had opened. What it read in them is about to be summarised, and each open section is part of every
 * later request.
 */
export function closeSections(session: SessionJson): ClosedSections {
  const { name, initial } = openedSections;
  const stored = Object.hasOwn(session.slices, name) ? session.slices[name] : undefined;
  const { keys = [] } = (stored?.state ?? {}) as { readonly keys?: readonly string[] };
  if (stored === undefined || keys.length === 0) return { session, closed: [] };
  const slices = { ...session.slices, [name]: { ...stored, state: initial } };
  // A key is the name of the prompt and the path of the section.
  return { session: { ...session, slices }, closed: keys.map((key) => key.slice(key.indexOf('#') + 1)) };
}

/** The line of the summary that tells the agent. */
export function closedNote(closed: readonly string[]): readonly string[] {
  if (closed.length === 0) return [];
  const names = closed.map((one) => JSON.stringify(one)).join(', ');
  return [`The sections that you had opened are closed again: ${names}. Open them again if you need them.`];
}
