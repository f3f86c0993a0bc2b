import type { JsonSchemaObject } from '@lastcall/core';
import type { ExecutionType } from './visibility.ts';

/** A tool as data: what the registry holds, and what an agent's configuration may hold inline. */
export interface ToolConfig {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchemaObject;
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly executionType: ExecutionType;
  /** Whether its calls are messages of the active space. Ask `isVisible`. */
  readonly visible?: boolean | undefined;
  readonly execution?: ToolExecution | undefined;
  readonly display?: ToolDisplay | undefined;
  readonly terminal?: boolean | undefined;
  readonly effects?: 'none' | 'session' | 'external' | undefined;
  readonly idempotent?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  /** Each call waits for somebody to approve it. */
  readonly approval?: boolean | undefined;
  readonly keepLatest?: string | undefined;
  /** How long a pending call waits for its answer. Without it: for ever. */
  readonly expiresInMs?: number | undefined;
  /** Who may answer a pending call. Default: every member of the space its card is in. */
  readonly answerers?: Answerers | undefined;
  /** What an answer must be. Default: any JSON. */
  readonly resultSchema?: JsonSchemaObject | undefined;
}

/** A tool as it is written: the description defaults to the name, the input schema to an object without properties. */
export type ToolConfigInput = Omit<ToolConfig, 'description' | 'inputSchema'> &
  Partial<Pick<ToolConfig, 'description' | 'inputSchema'>>;

export interface ToolDisplay {
  /** The component that shows the call. */
  readonly customUI: string;
}

/** By the ids of entities or by the roles of members: either is enough. */
export interface Answerers {
  readonly entities?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
}

/** How a tool runs. In this version: `{ value }`, the answer of an `internal` tool that always says the same. */
export interface ToolExecution {
  readonly value?: unknown;
  readonly url?: unknown;
  readonly webhookUrl?: unknown;
  readonly [field: string]: unknown;
}
