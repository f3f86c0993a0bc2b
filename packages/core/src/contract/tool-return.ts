import type { ToolResult } from '../results/result.ts';

/**
 * What `execute` may return: a value, a result object, a promise of either, or values over time, the last of which
 * counts.
 */
export type ToolReturn<O> = O | ToolResult<O> | Promise<O | ToolResult<O>> | AsyncIterable<O | ToolResult<O>>;
