/** Receives reports of what no caller waits for: a subscriber that throws, a resource that cannot be disposed. */
export interface Logger {
  debug(message: string, details?: unknown): void;
  info(message: string, details?: unknown): void;
  warn(message: string, details?: unknown): void;
  error(message: string, details?: unknown): void;
}
