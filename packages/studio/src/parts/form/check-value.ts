import type { JsonSchemaObject, jsonSchema as jsonSchemaOfCore } from '@lastcall/core';
import { isWithin, type Problem, pathTo } from './path.ts';

/** All problems of a value, as the gateway will report them: it runs the same code. The code is loaded on first use. */
export async function checkValue(schema: unknown, value: unknown): Promise<readonly Problem[]> {
  const issues = await issuesOf(async () => {
    const { jsonSchema } = await import('@lastcall/core');
    return await jsonSchema(schema as JsonSchemaObject, { origin: 'data' })['~standard'].validate(value);
  });
  return issues.map(({ path = [], message }) => ({
    path: path.reduce<string>((base, part) => {
      const key = typeof part === 'object' ? part.key : part;
      return pathTo(base, typeof key === 'number' ? key : String(key));
    }, ''),
    message: asSentence(message),
  }));
}

type Validated = Awaited<ReturnType<ReturnType<typeof jsonSchemaOfCore>['~standard']['validate']>>;

/** A schema that cannot be read, and code that cannot be loaded, report no problem here: the gateway decides. */
async function issuesOf(validate: () => Promise<Validated>): Promise<NonNullable<Validated['issues']>> {
  try {
    return (await validate()).issues ?? [];
  } catch {
    return [];
  }
}

/** If a field is empty or cannot be read, only that is shown, and not also that it is missing. */
export function mergeProblems(read: readonly Problem[], checked: readonly Problem[]): readonly Problem[] {
  return [...read, ...checked.filter(({ path }) => !read.some((one) => one.path !== '' && isWithin(path, one.path)))];
}

function asSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
