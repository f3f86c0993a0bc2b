import type { Prompt, PromptDefinition, RenderedPrompt, RenderOptions } from '../contract/prompt.ts';
import { OptionsError, PromptValidationError } from '../errors.ts';
import { createSession } from '../session/create-session.ts';
import { SessionLayer } from '../session/session-layer.ts';
import type { AnySlice } from '../session/slice.ts';
import { type KnownNames, knownNames, unknownName } from '../unknown-option.ts';
import { openedSections } from './opened-sections.ts';
import { createBody, type PromptBody } from './prompt-body.ts';
import { buildTree, mayBeSummarised, nodesOf, type SectionNode } from './prompt-tree.ts';
import type { Params } from './section-params.ts';
import { withTerminalTools } from './terminal-tools.ts';

const bodies = new WeakMap<Prompt, ReturnType<typeof createBody>>();

/** Builds a prompt. Throws a PromptValidationError that names the section if it could not work. */
export function prompt(definition: PromptDefinition): Prompt {
  const { ns, key, sections, policies = [], resources = [] } = checkDefinition(definition);
  const roots = buildTree(sections, policies);
  const slices = collectSlices(roots);
  const toBody = createBody({ id: `${ns}/${key}`, roots, policies, resources });
  const built: Prompt = Object.freeze({
    ns,
    key,
    sections: Object.freeze([...sections]),
    slices,
    render(options: RenderOptions = {}): RenderedPrompt {
      const { session, params } = checkOptions(options);
      const { body, tools } = toBody(session, params);
      return { system: withTerminalTools(body, tools, session), tools };
    },
  });
  bodies.set(built, toBody);
  return built;
}

/** For a turn, which adds further tools and then the list of the terminal ones. */
export function renderPrompt(prompt: Prompt, options: RenderOptions = {}): PromptBody {
  const toBody = bodies.get(prompt);
  if (toBody === undefined) throw new OptionsError('instructions', 'must be a text or come from prompt().');
  const { session, params } = checkOptions(options);
  return toBody(session, params);
}

/** The same prompt with another body, for a host that adds to what a turn renders. */
export function mapPrompt(prompt: Prompt, change: (rendered: PromptBody) => PromptBody): Prompt {
  const toBody = bodies.get(prompt);
  if (toBody === undefined) throw new OptionsError('instructions', 'must be a text or come from prompt().');
  const mapped: Prompt = Object.freeze({ ...prompt });
  bodies.set(mapped, (session, params) => change(toBody(session, params)));
  return mapped;
}

function collectSlices(roots: readonly SectionNode[]): readonly AnySlice[] {
  const own = nodesOf(roots).flatMap(({ slices, path }) => slices.map((slice) => ({ slice, path })));
  const byName = new Map<string, AnySlice>();
  if (mayBeSummarised(roots)) byName.set(openedSections.name, openedSections);
  for (const { slice, path } of own) {
    const known = byName.get(slice.name);
    if (known !== undefined && known !== slice) {
      throw new PromptValidationError(
        `Section "${path}": two different slices are named "${slice.name}". Rename one, or share one definition.`,
      );
    }
    byName.set(slice.name, slice);
  }
  return Object.freeze([...byName.values()]);
}

const FIELDS: KnownNames = knownNames<PromptDefinition>(
  { ns: true, key: true, sections: true, policies: true, resources: true },
  { namespace: 'ns', name: 'key' },
);

function checkDefinition(definition: PromptDefinition): PromptDefinition {
  if (typeof definition !== 'object' || definition === null)
    throw new PromptValidationError('prompt() takes an object { ns, key, sections }.');
  const unknown = unknownName(definition, FIELDS);
  if (unknown !== undefined) throw new PromptValidationError(`A prompt's ${unknown.field} ${unknown.problem}`);
  for (const field of ['ns', 'key'] as const) {
    const value: unknown = definition[field];
    if (typeof value !== 'string' || value.trim() === '')
      throw new PromptValidationError(`A prompt's ${field} must be a text that is not empty.`);
  }
  for (const field of ['sections', 'policies', 'resources'] as const) {
    const value: unknown = definition[field];
    const isMissing = value === undefined && field !== 'sections';
    if (!isMissing && !Array.isArray(value)) throw new PromptValidationError(`A prompt's ${field} must be an array.`);
  }
  return definition;
}

function checkOptions({ session = createSession(), params = {} }: RenderOptions): {
  session: SessionLayer;
  params: Params;
} {
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    throw new OptionsError('params', 'must be an object of values by name.');
  // A copy, because the offered tools read the parameters later, when they are called.
  return { session: SessionLayer.of(session), params: { ...params } };
}
