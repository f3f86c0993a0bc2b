/** Receives reports of failures that no caller awaits: a subscriber that throws, a resource that cannot be disposed. */
export interface Logger {
  debug(message: string, details?: unknown): void;
  info(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  error(message: string, details?: unknown): void;
}
