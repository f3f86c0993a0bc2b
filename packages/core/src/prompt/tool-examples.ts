import type { AnyTool } from '../contract/any-tool.ts';
import type { ToolExample } from '../contract/tool-example.ts';
import type { ToolSet } from '../contract/tool-set.ts';
import { renderValue } from '../results/render.ts';

/** The examples of a section's tools, each as the model would write the call and read its result. */
export function examplesText(tools: ToolSet): readonly string[] {
  return Object.entries(tools).flatMap(([name, one]) => {
    const { examples = [], render } = one as Partial<AnyTool>;
    return examples.map((example) => exampleText(name, example, render));
  });
}

function exampleText(name: string, example: ToolExample<unknown, unknown>, render: AnyTool['render']): string {
  const lines = [`Example of ${name}: ${example.description.trim()}`, `Input: ${toJson(example.input)}`];
  if (example.output !== undefined) lines.push(labelled('Output:', renderValue(example.output, render)));
  return lines.join('\n');
}

function labelled(label: string, text: string): string {
  return `${label}${text.includes('\n') ? '\n' : ' '}${text}`;
}

function toJson(input: unknown): string {
  try {
    return JSON.stringify(input) ?? '{}';
  } catch {
    // Input that the schema accepted but JSON cannot hold is shown as far as it can be read.
    return renderValue(input);
  }
}
