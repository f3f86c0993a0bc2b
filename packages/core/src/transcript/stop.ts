/** Why a turn ended: exactly one of these. The last three come with a rejection. */
export type Stop =
  | { readonly reason: 'end_turn'; readonly by: 'text' }
  | { readonly reason: 'end_turn'; readonly by: 'terminal' | 'terminating'; readonly tool: string }
  | { readonly reason: 'transition'; readonly tool: string; readonly callId: string; readonly value: unknown }
  | { readonly reason: 'suspended' }
  | { readonly reason: 'max_steps' }
  | { readonly reason: 'deadline' }
  | { readonly reason: 'budget'; readonly dimension: 'tokens' | 'toolCalls' | 'money' }
  | { readonly reason: 'aborted' }
  | { readonly reason: 'length' }
  | { readonly reason: 'content_filter' }
  | { readonly reason: 'max_invocations' }
  | { readonly reason: 'max_nudges' }
  | { readonly reason: 'error'; readonly error: unknown };
