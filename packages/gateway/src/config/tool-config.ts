import type { JsonSchemaObject } from '@lastcall/core';
import type { MiddlewareConfig } from './middleware-config.ts';
import type { ExecutionType } from './visibility.ts';

/** A tool as data, in the registry or in an agent's configuration. */
export interface ToolConfig {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly executionType: ExecutionType;
  /** Whether its calls are messages of the active space. Use `isVisible` to read it. */
  readonly visible?: boolean | undefined;
  readonly execution?: ToolExecution | undefined;
  readonly display?: ToolDisplay | undefined;
  readonly terminal?: boolean | undefined;
  readonly effects?: 'none' | 'session' | 'external' | undefined;
  readonly idempotent?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Each call waits until a person approves it. */
  readonly approval?: boolean | undefined;
  readonly keepLatest?: string | undefined;
  /** How long a call waits for its answer. Without it, it waits for ever. */
  readonly expiresInMs?: number | undefined;
  /** False: every call waits for its own approval, and none can be granted in advance. */
  readonly grants?: false | undefined;
  /** Who may answer a waiting call. Default: every member of the space that its card is in. */
  readonly answerers?: Answerers | undefined;
  /** Middleware around the calls of this tool only, inside the agent's middleware. The first is the outermost. */
  readonly middleware?: readonly MiddlewareConfig[] | undefined;
  /** The schema of an answer. Default: any JSON. */
  readonly resultSchema?: JsonSchemaObject | undefined;
}

/**
 * A tool as a user writes it: the description defaults to the name, the input schema to an object without properties.
 */
export type ToolConfigInput = Omit<ToolConfig, 'description' | 'inputSchema'> &
  Partial<Pick<ToolConfig, 'description' | 'inputSchema'>>;

export interface ToolDisplay {
  /** The component that shows the call. */
  readonly customUI: string;
}

/** Entities by id or `externalId`, or members by role: one match is enough. */
export interface Answerers {
  readonly entities?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
}

/**
 * How a tool runs: `{ url }` or `{ webhookUrl }` call a server, see `HttpExecution`; `{ agentConfig }` asks a
 * sub-agent, see `SubAgentExecution`; `{ provider, model }` makes images, see `ImageExecution`; `{ template }` returns a text with values
 * of the input; `{ value }` is an `internal` tool that always returns this value.
 */
export interface ToolExecution {
  readonly value?: unknown;
  readonly template?: unknown;
  readonly url?: unknown;
  readonly webhookUrl?: unknown;
  readonly agentConfig?: unknown;
  readonly provider?: unknown;
  readonly timeout?: unknown;
  readonly [field: string]: unknown;
}
