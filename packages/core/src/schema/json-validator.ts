import type { StandardSchemaV1 } from '@standard-schema/spec';
import { describeError } from '../results/describe-error.ts';
import { createRun, type Run } from './check.ts';
import { cloneJson } from './clone-json.ts';
import { compileExtraKeyFinder, describeExtraKey } from './extra-keys.ts';
import { compileDefaults } from './fill-defaults.ts';
import { createInterpreter } from './interpreter.ts';
import { readIssues } from './json-issues.ts';
import type { SchemaDocument } from './schema-document.ts';
import { CHECK_STEPS, TooManySteps } from './steps.ts';
import { stripKeys } from './strip-keys.ts';

type Result = StandardSchemaV1.Result<unknown>;

/** Checks values against a document. Never throws. */
export function createJsonValidator(document: SchemaDocument): (value: unknown) => Result {
  const check = createJsonCheck(document);
  return (value) => check(value, createRun(document.origin === 'data' ? CHECK_STEPS : undefined));
}

/**
 * The same, with the steps of each check counted by the caller. Compiled with the first value: many schemas are only
 * shown to a model.
 */
export function createJsonCheck(document: SchemaDocument): (value: unknown, run: Run) => Result {
  let made: ReturnType<typeof compile> | undefined;
  return (value, run) => {
    try {
      made ??= compile(document);
      return made(value, run);
    } catch (error) {
      return refused(`cannot be checked: ${describeError(error).message}`);
    }
  };
}

/**
 * Validates first and fills in defaults afterwards: required properties are really required, and a careless default
 * (`null` for a text) does not fail every call that leaves it out.
 */
function compile(document: SchemaDocument): (value: unknown, run: Run) => Result {
  const interpreter = createInterpreter(document, { extraKeys: 'refused' });
  const fillDefaults = compileDefaults(document);
  const findExtraKeys = compileExtraKeyFinder(document);
  return (value, run) => {
    const copy = cloneJson(value, run.steps);
    if (!isJsonType(copy)) return refused(`expected a JSON value, got ${typeof copy}`);
    if (interpreter.fits(document.root, copy, run)) return { value: fillDefaults(copy, run.steps) };
    return explain(() => issuesOf(copy, run));
  };

  /**
   * Extra keys are found by name, and all other problems in the value without them. If it did both at once, the
   * interpreter would report a key as unknown wherever its value is wrong.
   */
  function issuesOf(value: unknown, run: Run): readonly StandardSchemaV1.Issue[] {
    const extra = findExtraKeys(value, run);
    const rest = stripKeys(
      value,
      extra.map(({ path }) => path),
    );
    const issues = [...extra.map(describeExtraKey), ...readIssues(interpreter.findings(rest, run), run)];
    if (issues.length === 0) return [{ message: 'does not fit the schema', path: [] }];
    return document.origin === 'data' ? firstOf(issues) : issues;
  }
}

const MOST_ISSUES = 50;

/** An untrusted value can have thousands of problems with an untrusted schema, so only the first are listed. */
function firstOf(issues: readonly StandardSchemaV1.Issue[]): readonly StandardSchemaV1.Issue[] {
  const more = issues.length - MOST_ISSUES;
  if (more <= 0) return issues;
  const message = `${more} more ${more === 1 ? 'problem is' : 'problems are'} not listed`;
  return [...issues.slice(0, MOST_ISSUES), { message, path: [] }];
}

/** It is already known that the value does not fit, even if the steps do not suffice to say why. */
function explain(issues: () => readonly StandardSchemaV1.Issue[]): StandardSchemaV1.FailureResult {
  try {
    return { issues: issues() };
  } catch (error) {
    if (error instanceof TooManySteps) return refused(`does not fit the schema (why is unknown: ${error.message})`);
    throw error;
  }
}

function refused(message: string): StandardSchemaV1.FailureResult {
  return { issues: [{ message, path: [] }] };
}

function isJsonType(value: unknown): boolean {
  return value === null || ['object', 'string', 'number', 'boolean'].includes(typeof value);
}
