/** How often lists are polled while the page is visible, in milliseconds. */
export const EVERY_MS = 5_000;
