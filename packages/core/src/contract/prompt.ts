import type { Policy } from '../policies/policy.ts';
import type { AnyResource } from '../session/resource.ts';
import type { Session } from '../session/session.ts';
import type { AnySlice } from '../session/slice.ts';
import type { Section } from './section.ts';
import type { ToolSet } from './tool-set.ts';

export interface PromptDefinition {
  /** The owner of the prompt, e.g. a product or a package. */
  ns: string;
  key: string;
  sections: readonly Section[];
  /** Rules about the calls of every tool the prompt offers. */
  policies?: readonly Policy[];
  resources?: readonly AnyResource[];
}

/** A system prompt made of sections. It is built once; its text depends on the session and the parameters. */
export interface Prompt {
  readonly ns: string;
  readonly key: string;
  readonly sections: readonly Section[];
  /**
   * All slices it may register. A session that was stored with them needs them again: `Session.fromJSON(json, { slices
   * })`.
   */
  readonly slices: readonly AnySlice[];
  /** Registers the slices and resources of the enabled sections in the session, and returns what a model reads now. */
  render(options?: RenderOptions): RenderedPrompt;
}

export interface RenderOptions {
  /** Default: a new one. */
  session?: Session;
  /** One flat object for the whole prompt: each section takes the parameters it declares. */
  params?: Readonly<Record<string, unknown>>;
}

export interface RenderedPrompt {
  readonly system: string;
  readonly tools: ToolSet;
}
