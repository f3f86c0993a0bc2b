import { type JsonSchemaObject, jsonSchema, LastcallError, ToolDefinitionError, tool } from '@lastcall/core';
import type { ToolConfig, ToolExecution } from './tool-config.ts';
import { hasUrl, isInteractive } from './visibility.ts';

export interface ToolProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** What of a well-formed tool could not work when it is called. */
export function toolProblems(config: ToolConfig): readonly ToolProblem[] {
  return [
    ...executionProblems(config),
    ...visibilityProblems(config),
    ...pendingProblems(config),
    ...definitionProblems(config),
    ...resultSchemaProblems(config.resultSchema),
  ];
}

function executionProblems({ executionType, execution }: ToolConfig): readonly ToolProblem[] {
  const path = ['execution'];
  switch (executionType) {
    case 'gateway':
      return [
        {
          path: ['executionType'],
          message: later('"gateway" tools as data', 'write the tool in TypeScript in lastcall.config.ts'),
        },
      ];
    case 'external':
      if (hasUrl(execution))
        return [
          {
            path,
            message: later(
              '"external" tools with a URL',
              'leave execution out and answer the pending call by POST /api/runs/:runId/tool-results',
            ),
          },
        ];
      return execution === undefined
        ? []
        : [{ path, message: 'must be left out: without a URL, whoever works for the agent answers the call.' }];
    case 'space':
      return execution === undefined
        ? []
        : [
            {
              path,
              message: 'must be left out: the people in the space answer the call. Only display may stand in it.',
            },
          ];
    case 'internal':
      return staticProblems(execution);
  }
}

function staticProblems(execution: ToolExecution | undefined): readonly ToolProblem[] {
  if (execution === undefined || !Object.hasOwn(execution, 'value')) {
    return [
      {
        path: ['execution'],
        message: `must be { value: … }, the tool's answer. ${later('Other kinds of "internal" tools', 'write the tool in TypeScript in lastcall.config.ts')}`,
      },
    ];
  }
  const others = Object.keys(execution).filter((key) => key !== 'value');
  const unknown = others.map((key) => ({ path: ['execution', key], message: 'is unknown beside a value. Remove it.' }));
  if (isJson(execution.value)) return unknown;
  return [
    ...unknown,
    {
      path: ['execution', 'value'],
      message: 'must be JSON: text, numbers, true, false, null, lists and objects of them, at most 100 levels deep.',
    },
  ];
}

// The bound also ends a value that contains itself.
function isJson(value: unknown, depth: number = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth >= 100) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === null || prototype === Object.prototype;
  return isPlain && Object.values(value).every((one) => isJson(one, depth + 1));
}

function later(what: string, instead: string): string {
  return `${what} come with a later version: ${instead}.`;
}

function visibilityProblems({ executionType, visible }: ToolConfig): readonly ToolProblem[] {
  if (executionType !== 'space' || visible !== false) return [];
  return [
    {
      path: ['visible'],
      message:
        'must not be false for a "space" tool: nobody could see the call, and so nobody could answer it. Leave it out.',
    },
  ];
}

/** Settings of a pending call mean nothing, or something else than was meant, on a tool whose calls never wait so. */
function pendingProblems(config: ToolConfig): readonly ToolProblem[] {
  const waits = isInteractive(config);
  const problems: ToolProblem[] = [];
  if (waits && config.approval === true)
    problems.push({ path: ['approval'], message: 'must be left out: somebody answers each call of this tool anyway.' });
  for (const field of ['answerers', 'expiresInMs'] as const) {
    if (config[field] !== undefined && !waits && config.approval !== true)
      problems.push({
        path: [field],
        message: 'is for calls that wait for an answer, and those of this tool do not. Leave it out, or set approval.',
      });
  }
  if (config.resultSchema !== undefined && !waits)
    problems.push({
      path: ['resultSchema'],
      message: 'is for answers that somebody gives. Use outputSchema for what the tool itself returns.',
    });
  return problems;
}

/** Core's own rules for a tool, told at the path they concern. */
function definitionProblems({ description, inputSchema, outputSchema }: ToolConfig): readonly ToolProblem[] {
  try {
    tool({ description, inputSchema, ...(outputSchema === undefined ? {} : { outputSchema }) });
    return [];
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error;
    return [{ path: [error.field], message: error.message.slice(`Tool "${error.tool}": ${error.field} `.length) }];
  }
}

function resultSchemaProblems(schema: JsonSchemaObject | undefined): readonly ToolProblem[] {
  if (schema === undefined) return [];
  try {
    jsonSchema(schema);
    return [];
  } catch (error) {
    if (!(error instanceof LastcallError)) throw error;
    return [{ path: ['resultSchema'], message: `cannot be used: ${error.message}` }];
  }
}
