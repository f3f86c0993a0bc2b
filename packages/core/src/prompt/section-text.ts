import { PromptRenderError } from '../errors.ts';
import { errorText } from '../results/describe-error.ts';
import { renderValue } from '../results/render.ts';
import { fillPlaceholders } from './placeholders.ts';
import type { SectionNode } from './prompt-tree.ts';
import type { Params } from './section-params.ts';
import type { ShownSection } from './shown-sections.ts';
import { examplesText } from './tool-examples.ts';

/** Sections as the model reads them, each under its heading. */
export function sectionsText(shown: readonly ShownSection[], params: Params): string {
  return shown.map((one) => sectionText(one, params)).join('\n\n');
}

function sectionText({ node, as }: ShownSection, params: Params): string {
  const values = readValues(node, params);
  const body =
    as === 'full'
      ? [templateText(node, values), ...examplesText(node.tools)]
      : [filled(node, node.section.summary ?? '', values), howToOpen(node.path)];
  return [headingOf(node), ...body.map((text) => text.trim())].filter((text) => text !== '').join('\n\n');
}

function headingOf({ depth, section }: SectionNode): string {
  // Markdown has six heading levels, and the prompt itself is the first.
  return `${'#'.repeat(Math.min(depth + 1, 6))} ${section.title.trim()}`;
}

function howToOpen(path: string): string {
  const key = JSON.stringify(path);
  return `---\n[Summarised. Call open_sections with key ${key} to open it, or read_section with key ${key} to read it once.]`;
}

function readValues(node: SectionNode, params: Params): Params {
  const read = node.params.read(params);
  if (read.ok) return read.values;
  throw new PromptRenderError(node.path, `params do not fit: ${read.problem}`);
}

function templateText(node: SectionNode, values: Params): string {
  const { template } = node.section;
  if (typeof template === 'string') return filled(node, template, values);
  const text = callTemplate(node.path, template, values);
  if (typeof text === 'string') return text;
  throw new PromptRenderError(
    node.path,
    `template must give a text, not ${text instanceof Promise ? 'a promise' : typeof text}.`,
  );
}

function callTemplate(path: string, template: (params: never) => unknown, values: Params): unknown {
  try {
    return template(values as never);
  } catch (cause) {
    throw new PromptRenderError(path, `template threw ${errorText(cause)}`, { cause });
  }
}

function filled(node: SectionNode, text: string, values: Params): string {
  return fillPlaceholders(text, (name) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null)
      throw new PromptRenderError(node.path, `parameter "${name}" has no value.`);
    return renderValue(value);
  });
}
