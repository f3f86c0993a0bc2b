import type { JsonSchemaObject } from '@lastcall/core';
import { z } from 'zod';
import { type ProblemAt, problemsIn } from './config-problem.ts';
import { parseTemplate, placeholdersIn, type Template } from './template.ts';
import type { ToolConfig, ToolExecution } from './tool-config.ts';

/** Reads the template of a tool whose output is a text made of its input. Throws a SyntaxError if it cannot be used. */
export function parseTextTemplate(text: string): Template {
  const template = parseTemplate(text);
  const secret = template.find((part) => typeof part !== 'string' && 'env' in part);
  if (secret !== undefined)
    throw new SyntaxError(`must not contain ${ENV_FORM}: models and people read the output. Use {{input.path}} alone.`);
  return template;
}

const ENV_FORM = `\${env.NAME}`;
const MOST_CHARACTERS = 100_000;

/** Finds what is wrong with `execution: { template }`. */
export function templateProblems({ execution = {}, inputSchema }: ToolConfig): readonly ProblemAt[] {
  const { template } = execution;
  const path = ['execution', 'template'];
  const unknown = neighbourProblems(execution, 'template');
  if (typeof template !== 'string' || template === '' || template.length > MOST_CHARACTERS)
    return [
      ...unknown,
      { path, message: 'must be a text of 1–100,000 characters, e.g. "Task completed: {{input.result}}".' },
    ];
  return [...unknown, ...textProblems(template, inputSchema).map((message) => ({ path, message }))];
}

const timeoutSchema = z.int().min(1).max(86_400_000).optional();

/** Finds what must not be next to `value` or `template`. Every kind of execution takes a `timeout`. */
export function neighbourProblems(execution: ToolExecution, kind: 'value' | 'template'): readonly ProblemAt[] {
  const { [kind]: _own, timeout, ...others } = execution;
  const foreign = Object.keys(others).map((key) => ({
    path: ['execution', key],
    message: `is not allowed together with ${kind}. Remove it.`,
  }));
  return [...foreign, ...problemsIn(timeoutSchema, timeout, ['execution', 'timeout'])];
}

function textProblems(text: string, inputSchema: JsonSchemaObject): readonly string[] {
  try {
    const fields = parseTextTemplate(text).flatMap((part) =>
      typeof part === 'string' || 'env' in part ? [] : [part.input],
    );
    return [...new Set(fields.flatMap((path) => fieldProblem(path, inputSchema)))];
  } catch (error) {
    return [(error as Error).message.replace(` or ${ENV_FORM}`, '')];
  }
}

/** Other keywords may add properties, so that only plain schemas are checked. */
const ADDS_PROPERTIES = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties', 'dependentSchemas'];

/** A field that the model is not told about would be missing in every call. */
function fieldProblem([field]: readonly string[], schema: JsonSchemaObject): readonly string[] {
  const { properties } = schema as { readonly properties?: unknown };
  const isPlain = !ADDS_PROPERTIES.some((keyword) => Object.hasOwn(schema, keyword));
  if (field === undefined || !isPlain || typeof properties !== 'object' || properties === null) return [];
  if (Object.hasOwn(properties, field)) return [];
  const known = Object.keys(properties);
  const has = known.length === 0 ? 'no properties' : `only ${known.map((name) => `"${name}"`).join(', ')}`;
  return [`uses {{input.${field}}}, but inputSchema has ${has}. Add "${field}" to its properties.`];
}

/** Finds placeholders in `execution: { value }`. They would be returned as they are written. */
export function valueProblems(value: unknown): readonly ProblemAt[] {
  const [found] = textsIn(value).flatMap(placeholdersIn);
  if (found === undefined) return [];
  const instead = found.startsWith('{{') ? 'Use { template: "…" } for a text with values of the input.' : 'Remove it.';
  return [{ path: ['execution', 'value'], message: `contains ${found}, but a value is returned as it is. ${instead}` }];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
