import { chromePath } from '../packages/studio/test/support/chrome-path.ts';

export { chromePath };

/** Runs before any test: Chromium is unpacked or installed when it is first needed, and a second worker would start one that is half unpacked. */
export async function setup(): Promise<void> {
  await chromePath();
}
