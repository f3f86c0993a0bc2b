/** Lists are asked for again this often while the page is visible, in milliseconds. */
export const EVERY_MS = 5_000;
