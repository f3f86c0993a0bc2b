import { type AnyTool, ToolValidationError } from '@lastcall/core';
import { dataTool } from '@lastcall/core/internal';
import { dataSchemas } from '../../config/data-schema.ts';
import { parseTextTemplate } from '../../config/text-execution.ts';
import type { ToolConfig } from '../../config/tool-config.ts';
import { fillText, missingIn, type Values } from './http/fill-template.ts';

/** A tool whose output is a text with values of its input. */
export function templateTool(config: ToolConfig): { tool: AnyTool; effects: 'none' } {
  const template = parseTextTemplate(String(config.execution?.template));
  const made = dataTool({
    description: config.description,
    ...dataSchemas(config),
    execute(input: unknown) {
      const values: Values = { input, secret: noSecret };
      const text = fillText(template, values);
      if (text === undefined)
        throw new ToolValidationError(`${missingIn(template, values)} is missing, and the output needs it.`);
      return text;
    },
  });
  return { tool: made, effects: 'none' };
}

/** The template was checked: it has no secrets. */
function noSecret(name: string): never {
  throw new Error(`The secret ${name} cannot be used in an output.`);
}
