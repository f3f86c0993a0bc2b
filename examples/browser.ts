import { chromePath } from '../packages/studio/test/support/chrome-path.ts';

export { chromePath };

/**
 * Runs before any test: Chromium is unpacked or installed when it is first needed, and a second worker would start one that is half unpacked.
 * Workers have another folder for temporary files, so they are told where Chromium is.
 */
export async function setup(): Promise<void> {
  process.env.CHROME_PATH = await chromePath();
}
