import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describeError } from '../results/describe-error.ts';
import { cloneJson } from './clone-json.ts';
import { compileExtraKeyFinder, describeExtraKey, type ExtraKey } from './extra-keys.ts';
import { compileDefaults } from './fill-defaults.ts';
import { createInterpreter, type Interpreter } from './interpreter.ts';
import { readIssues } from './json-issues.ts';
import type { JsonSchemaNode } from './json-schema-object.ts';
import { stripKeys } from './strip-keys.ts';

/**
 * Validates first and fills in defaults afterwards: what the schema says is required is required, and a careless default
 * (`null` for a text) does not fail every call that leaves it out.
 */
export function createJsonValidator(document: JsonSchemaNode): (value: unknown) => StandardSchemaV1.Result<unknown> {
  const interpreter = createInterpreter(document, { extraKeys: 'refused' });
  const fillDefaults = compileDefaults(document);
  const findExtraKeys = compileExtraKeyFinder(document);
  return (value) => {
    try {
      const copy = cloneJson(value);
      if (!isJsonType(copy)) return { issues: [{ message: `expected a JSON value, got ${typeof copy}`, path: [] }] };
      if (interpreter.fits(document, copy)) return { value: fillDefaults(copy) };
      return { issues: issuesOf(interpreter, copy, findExtraKeys(copy)) };
    } catch (error) {
      return { issues: [{ message: `cannot be checked: ${describeError(error).message}`, path: [] }] };
    }
  };
}

/**
 * Extra keys are found by name and everything else in the value without them. Asked for both at once, the interpreter says
 * that a key is unknown wherever its value is wrong.
 */
function issuesOf(
  interpreter: Interpreter,
  value: unknown,
  extra: readonly ExtraKey[],
): readonly StandardSchemaV1.Issue[] {
  const rest = stripKeys(
    value,
    extra.map(({ path }) => path),
  );
  const issues = [...extra.map(describeExtraKey), ...readIssues(interpreter, rest)];
  return issues.length > 0 ? issues : [{ message: 'does not fit the schema', path: [] }];
}

function isJsonType(value: unknown): boolean {
  return value === null || ['object', 'string', 'number', 'boolean'].includes(typeof value);
}
