/** What somebody says to a call that waits for them. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: string }
  | { readonly approve: true; readonly input?: unknown }
  | { readonly deny: string };
