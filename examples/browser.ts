import { chromePath } from '../packages/studio/test/support/chrome-path.ts';

export { chromePath };

/** Before any test: Chromium is unpacked or installed when it is first needed, and a second worker would run half of it. */
export async function setup(): Promise<void> {
  await chromePath();
}
