/** A runtime that keeps a conversation with an agent. */
export interface CostContender {
  readonly name: string;
  /** Package and version. */
  readonly of: string;
  /** `modelUrl`: where its model is. */
  open(modelUrl: string): Promise<CostConversation>;
}

export interface CostConversation {
  /** Says something, approves what has to be approved, and returns the answer. */
  say(text: string): Promise<string>;
  close(): Promise<void>;
}
