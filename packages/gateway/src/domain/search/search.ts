import type { Kysely } from 'kysely';
import type { SearchKind, Tables } from '../../ports/store/schema/tables.ts';
import type { IndexEntry } from '../../ports/store/search/index-entry.ts';
import { findInIndex, timeOfEntry } from '../../ports/store/search/search-index.ts';
import type { Tx } from '../../ports/store/store.ts';
import { invalid } from '../entities/invalid.ts';
import { type Page, type PageOptions, pageLimit } from '../entities/page.ts';
import { EVERYTHING, isNarrow, type View } from '../projects/view.ts';
import { kindLabel, labelOf } from './labels.ts';
import { readState } from './search-state.ts';
import { type SnippetPart, snippetOf } from './snippet.ts';
import { readSources, type Source } from './sources.ts';
import { type Term, toTerms } from './words.ts';

export interface SearchFilter extends PageOptions {
  /** Words, "phrases" and prefix*. All of them have to occur. */
  readonly q: string;
  readonly kind?: SearchKind | undefined;
  /** Only messages of the spaces that this entity is a member of. Without it: everything in the view. */
  readonly entityId?: string | undefined;
  readonly view?: View | undefined;
}

/** A text that was found. */
interface SearchResult extends Source {
  readonly kind: SearchKind;
  readonly at: number;
  /** The text around the first match. */
  readonly snippet: readonly SnippetPart[];
}

export interface SearchPage extends Page<SearchResult> {
  /** Everything that was stored before this time was searched. Absent if the index is being built. */
  readonly indexedTo?: number;
}

/**
 * Finds messages, inputs, outputs and errors, newest first. A page may have fewer results than its limit, although there are more: a search ends
 * after a while and says with `next` where it goes on.
 */
export async function search(
  tx: Tx,
  filter: SearchFilter,
  { readingMs = MOST_READING_MS }: { readonly readingMs?: number } = {},
): Promise<SearchPage> {
  const { db } = tx;
  const { completeTo } = await readState(db);
  const lag = completeTo === undefined ? {} : { indexedTo: completeTo };
  const terms = toTerms(filter.q);
  const limit = pageLimit(filter.limit);
  const labels = [...(await limitsOf(db, filter)), ...(filter.kind === undefined ? [] : [[kindLabel(filter.kind)]])];
  const before = positionOf(filter.cursor);
  const { entries, searchedTo } = await findInIndex(db, tx.dialect, { terms, labels, before, limit });
  const { items, readTo } = await toResults(tx, entries, { ...filter, terms, readingMs });
  const next = readTo ?? searchedTo;
  return { items, ...(next === undefined ? {} : { next: String(next) }), ...lag };
}

function positionOf(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  const position = /^\d{1,16}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (!Number.isSafeInteger(position)) throw invalid('cursor', 'must be the `next` of an earlier page.');
  return position;
}

/** What the caller can see, as labels of the index. */
async function limitsOf(db: Kysely<Tables>, { entityId, view = EVERYTHING }: SearchFilter): Promise<string[][]> {
  if (entityId !== undefined) {
    const memberships = db.selectFrom('memberships').select('space_id').where('entity_id', '=', entityId);
    const rows = await memberships.where('left_at', 'is', null).execute();
    return [rows.map(({ space_id }) => labelOf('space', space_id))];
  }
  const project = view.project === undefined ? [] : [[labelOf('project', view.project)]];
  if (!isNarrow(view)) return project;
  const agents = (view.agents ?? []).map((id) => labelOf('agent', id));
  const spaces = (view.spaces ?? []).map((id) => labelOf('space', id));
  return [...project, [...agents, ...spaces]];
}

/** Long texts take a while to read, and nothing else happens meanwhile. After this time the page ends. */
const MOST_READING_MS = 100;

interface ReadResults {
  readonly items: readonly SearchResult[];
  /** The last entry that was read, if there was no time for all of them. */
  readonly readTo?: number;
}

/**
 * Texts are read from their sources, and the caller's view is checked again there. An entry whose source is gone or says something else by now
 * is left out.
 */
async function toResults(
  tx: Tx,
  entries: readonly IndexEntry[],
  { terms, readingMs, ...filter }: SearchFilter & { readonly terms: readonly Term[]; readonly readingMs: number },
): Promise<ReadResults> {
  const sources = await readSources(tx.db, entries, filter);
  const until = performance.now() + readingMs;
  const items: SearchResult[] = [];
  for (const [index, { id, kind }] of entries.entries()) {
    const found = sources.get(id);
    const snippet = found === undefined ? undefined : snippetOf(found.text, terms);
    if (found !== undefined && snippet !== undefined)
      items.push({ kind, at: timeOfEntry(id), ...found.source, snippet });
    if (index < entries.length - 1 && performance.now() > until) return { items, readTo: id };
  }
  return { items };
}
