import { type JsonSchemaObject, LastcallError, ToolDefinitionError } from '@lastcall/core';
import { dataTool } from '@lastcall/core/internal';
import { type ProblemAt, problemsIn } from './config-problem.ts';
import { dataSchema, dataSchemas } from './data-schema.ts';
import { httpExecutionSchema } from './http-execution.ts';
import { imageExecutionSchema } from './image-execution.ts';
import { neighbourProblems, templateProblems, valueProblems } from './text-execution.ts';
import type { ToolConfig, ToolExecution } from './tool-config.ts';
import { hasUrl, isImage, isInteractive, isSubAgent, isTemplate } from './visibility.ts';

/** Finds what would fail when a well-formed tool is called. */
export function toolProblems(config: ToolConfig): readonly ProblemAt[] {
  return [
    ...executionProblems(config),
    ...visibilityProblems(config),
    ...pendingProblems(config),
    ...definitionProblems(config),
  ];
}

function executionProblems(config: ToolConfig): readonly ProblemAt[] {
  const { executionType, execution } = config;
  const path = ['execution'];
  switch (executionType) {
    case 'gateway':
      return inlineProblems(
        config,
        'must be { url: … } to call a server, { template: … } to return a text with values of the input, { agentConfig: … } to run a sub-agent, or { provider, model } to make images.',
      );
    case 'external':
      if (hasUrl(execution)) return httpProblems(config);
      return execution === undefined
        ? []
        : [
            {
              path,
              message:
                'must have a url, or be absent: without a URL, a service answers the call by POST /api/runs/:runId/tool-results.',
            },
          ];
    case 'space':
      return execution === undefined
        ? []
        : [
            {
              path,
              message:
                'must be absent: the people in the space answer the call. Set display to choose how they see it.',
            },
          ];
    case 'internal':
      return execution !== undefined && Object.hasOwn(execution, 'value')
        ? [...staticProblems(execution), ...timeoutProblems(config)]
        : inlineProblems(
            config,
            'must be { value: … } to return a fixed value, { template: … } to return a text with values of the input, { url: … } to call a server, { agentConfig: … } to run a sub-agent, or { provider, model } to make images.',
          );
  }
}

/** Problems of a tool that the gateway runs itself. `expected` says what its execution must be. */
function inlineProblems(config: ToolConfig, expected: string): readonly ProblemAt[] {
  const { execution = {} } = config;
  if (isTemplate(execution)) return [...templateProblems(config), ...timeoutProblems(config)];
  if (hasUrl(execution)) return httpProblems(config);
  // The schema of a sub-agent has checked the rest: see tool-config-schema.ts.
  if (isSubAgent(execution)) return timeoutProblems(config);
  if (isImage(execution))
    return [...problemsIn(imageExecutionSchema, execution, ['execution']), ...timeoutProblems(config)];
  return [{ path: ['execution'], message: expected }];
}

function httpProblems(config: ToolConfig): readonly ProblemAt[] {
  const { executionType, execution = {} } = config;
  const problems = [...problemsIn(httpExecutionSchema, execution, ['execution']), ...timeoutProblems(config)];
  if (executionType !== 'external' && execution.webhookUrl !== undefined)
    problems.push({ path: ['execution', 'webhookUrl'], message: 'is for "external" tools. Use url.' });
  return problems;
}

function timeoutProblems({ execution, timeoutMs }: ToolConfig): readonly ProblemAt[] {
  if (execution?.timeout === undefined || timeoutMs === undefined) return [];
  return [{ path: ['timeoutMs'], message: 'is set twice: use either timeoutMs or execution.timeout.' }];
}

function staticProblems(execution: ToolExecution): readonly ProblemAt[] {
  const unknown = neighbourProblems(execution, 'value');
  if (isJson(execution.value)) return [...unknown, ...valueProblems(execution.value)];
  return [
    ...unknown,
    {
      path: ['execution', 'value'],
      message: 'must be JSON: text, numbers, true, false, null, lists and objects of them, at most 100 levels deep.',
    },
  ];
}

// The depth limit also stops at a value that contains itself.
function isJson(value: unknown, depth: number = 0): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || depth >= 100) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === null || prototype === Object.prototype;
  return isPlain && Object.values(value).every((one) => isJson(one, depth + 1));
}

function visibilityProblems({ executionType, visible }: ToolConfig): readonly ProblemAt[] {
  if (executionType !== 'space' || visible !== false) return [];
  return [
    {
      path: ['visible'],
      message: 'must not be false for a "space" tool: people must see the call to answer it. Remove it.',
    },
  ];
}

/**
 * Refuses settings of waiting calls on a tool whose calls never wait: they would have no effect, or not the intended one.
 */
function pendingProblems(config: ToolConfig): readonly ProblemAt[] {
  const waits = isInteractive(config);
  const problems: ProblemAt[] = [];
  if (waits && config.approval === true)
    problems.push({
      path: ['approval'],
      message: 'must be absent: every call of this tool waits for an answer anyway.',
    });
  for (const field of ['answerers', 'expiresInMs'] as const) {
    if (config[field] !== undefined && !waits && config.approval !== true)
      problems.push({
        path: [field],
        message:
          'is for calls that wait for an answer, and calls of this tool do not wait. Remove it, or set approval.',
      });
  }
  if (waits && config.terminal === true)
    problems.push({
      path: ['terminal'],
      message:
        'must not be true: every call of this tool waits for an answer, and a call that waits ends no run. Remove it.',
    });
  if (config.grants !== undefined && config.approval !== true)
    problems.push({
      path: ['grants'],
      message: 'is for calls that wait for approval, and calls of this tool do not. Remove it, or set approval.',
    });
  if (config.resultSchema !== undefined && !waits)
    problems.push({
      path: ['resultSchema'],
      message: 'is for answers to waiting calls. Use outputSchema for what the tool itself returns.',
    });
  return problems;
}

/** Applies core's own rules for a tool, and reports them at the path they concern. */
function definitionProblems(config: ToolConfig): readonly ProblemAt[] {
  const { description, inputSchema, outputSchema, resultSchema } = config;
  const ofSchemas = Object.entries({ inputSchema, outputSchema, resultSchema }).flatMap(schemaProblems);
  if (ofSchemas.length > 0) return ofSchemas;
  try {
    dataTool({ description, ...dataSchemas(config) });
    return [];
  } catch (error) {
    if (!(error instanceof ToolDefinitionError)) throw error;
    return [{ path: [error.field], message: error.message.slice(`Tool "${error.tool}": ${error.field} `.length) }];
  }
}

function schemaProblems([field, schema]: [string, JsonSchemaObject | undefined]): readonly ProblemAt[] {
  if (schema === undefined) return [];
  try {
    dataSchema(schema);
    return [];
  } catch (error) {
    if (!(error instanceof LastcallError)) throw error;
    return [{ path: [field], message: `cannot be used: ${error.message}` }];
  }
}
