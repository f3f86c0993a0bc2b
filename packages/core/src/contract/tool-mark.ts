// Distinguishes our tools from the AI SDK's, which have the same shape and other rules. Enumerable, so that a spread
// copy keeps it.
export const TOOL: unique symbol = Symbol.for('lastcall.tool') as never;

/** Marks a checked definition. */
export interface ToolMark {
  /** 'data' if its definition was read from a file or a request instead of written in TypeScript. */
  readonly [TOOL]: true | 'data';
}
