import type { ToolSet } from '../contract/tool-set.ts';
import { type FailResult, fail, type OkResult, ok } from '../results/result.ts';
import type { Session } from '../session/session.ts';
import { type Tool, tool } from '../tools/tool.ts';
import { MOST_OPENINGS, openedIn, openedSections, type SectionsOpened } from './opened-sections.ts';
import type { SectionNode } from './prompt-tree.ts';
import type { Params } from './section-params.ts';
import { sectionsText } from './section-text.ts';
import { findEnabled, type Rendering, shownInFull, shownSections } from './shown-sections.ts';

/** A prompt's sections, and the parameters it was rendered with. */
export interface SectionSource {
  readonly prompt: string;
  readonly roots: readonly SectionNode[];
  readonly params: Params;
}

/** The tools read the session of the call, so they work in every turn that calls them. */
export function createSectionTools(source: SectionSource): ToolSet {
  const open: Execute<OpenInput> = ({ keys }, { session }) => openSections(source, [...new Set(keys)], session);
  const read: Execute<ReadInput> = ({ key }, { session }) => readSection(source, key, session);
  return { open_sections: { ...OPEN, execute: open }, read_section: { ...READ, execute: read } };
}

type Execute<I> = NonNullable<Tool<I>['execute']>;

interface OpenInput {
  readonly keys: readonly string[];
  readonly reason?: string;
}

interface ReadInput {
  readonly key: string;
}

const OPEN: Tool<OpenInput> = tool<OpenInput>({
  description: `Opens summarised sections of your instructions, with their tools, for the rest of the run. At most ${MOST_OPENINGS} openings.`,
  inputSchema: {
    type: 'object',
    properties: {
      keys: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'The keys that the summaries name.' },
      reason: { type: 'string', description: 'What they are needed for.' },
    },
    required: ['keys'],
  },
  effects: 'session',
});

const READ: Tool<ReadInput> = tool<ReadInput>({
  description: 'Shows the whole text of a section once. It stays summarised, and its tools stay unavailable.',
  inputSchema: {
    type: 'object',
    properties: { key: { type: 'string', description: 'The key that the summary names.' } },
    required: ['key'],
  },
  effects: 'none',
});

function openSections(source: SectionSource, keys: readonly string[], session: Session): OkResult | FailResult {
  const rendering = renderingOf(source, session);
  const refused = refusalOf(source, keys, rendering);
  if (refused !== undefined) return fail(refused);
  const left = MOST_OPENINGS - session.read(openedSections).openings;
  if (keys.length > left) {
    return fail(
      `Nothing was opened: at most ${MOST_OPENINGS} sections can be opened in a run, and ${left} are left. Use read_section instead.`,
    );
  }
  session.dispatch<SectionsOpened>({ type: 'SectionsOpened', prompt: source.prompt, keys });
  return ok(
    { opened: keys, openings_left: left - keys.length },
    'Opened. The whole text and the tools are there from your next step on.',
  );
}

/** All or none: if one key cannot be opened, nothing is. A section may be opened together with one above it. */
function refusalOf(source: SectionSource, keys: readonly string[], rendering: Rendering): string | undefined {
  const opened = new Set(rendering.opened);
  for (const key of [...keys].sort(byDepth)) {
    const now = { ...rendering, opened };
    if (!summarised(source, now).includes(key))
      return `Nothing was opened: ${reasonAgainst(source, key, now)} ${openable(source, rendering)}`;
    opened.add(key);
  }
  return undefined;
}

function reasonAgainst(source: SectionSource, key: string, rendering: Rendering): string {
  if (findEnabled(source.roots, key, rendering) === undefined) return `there is no section "${key}".`;
  const isShown = shownSections(source.roots, rendering).some(({ node }) => node.path === key);
  return isShown ? `"${key}" is open already.` : `"${key}" is inside a summarised section that must be opened first.`;
}

function readSection(source: SectionSource, key: string, session: Session): string | FailResult {
  const rendering = renderingOf(source, session);
  const node = findEnabled(source.roots, key, rendering);
  if (node === undefined) return fail(`There is no section "${key}". ${openable(source, rendering)}`);
  return sectionsText(shownInFull(node, rendering), source.params);
}

function renderingOf(source: SectionSource, session: Session): Rendering {
  return { session, params: source.params, opened: openedIn(session, source.prompt) };
}

function summarised(source: SectionSource, rendering: Rendering): readonly string[] {
  const shown = shownSections(source.roots, rendering);
  return shown.filter(({ as }) => as === 'summary').map(({ node }) => node.path);
}

function openable(source: SectionSource, rendering: Rendering): string {
  const keys = summarised(source, rendering);
  return keys.length === 0
    ? 'No section is summarised now.'
    : `Summarised now: ${keys.map((key) => `"${key}"`).join(', ')}.`;
}

function byDepth(one: string, other: string): number {
  return one.split('.').length - other.split('.').length;
}
