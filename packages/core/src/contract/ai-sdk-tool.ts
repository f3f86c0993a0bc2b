/**
 * An object made by the AI SDK's `tool()`, or a tool that a provider executes. Described by its shape, so that core
 * does not depend on the AI SDK.
 */
export interface AiSdkTool {
  readonly type?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | ((options: never) => string) | undefined;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly execute?: ((input: never, options: never) => unknown) | undefined;
  readonly needsApproval?: boolean | ((input: never, options: never) => boolean | PromiseLike<boolean>) | undefined;
  readonly toModelOutput?: ((options: never) => unknown) | undefined;
  readonly providerOptions?: unknown;
  readonly strict?: boolean | undefined;
  readonly inputExamples?: readonly { readonly input: unknown }[] | undefined;
  /** The id of a tool that the provider executes, e.g. `anthropic.web_search_20250305`. */
  readonly id?: string | undefined;
  readonly args?: Record<string, unknown> | undefined;
  readonly isProviderExecuted?: boolean | undefined;
}
