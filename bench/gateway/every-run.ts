import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type Called, countingModel } from '../overhead/counting-model.ts';

/** Makes `steps` calls in each run: after the answer it starts again. */
export function everyRun(steps: number, called?: Called): LanguageModelV4 {
  let asked = 0;
  let model = countingModel(steps, called);
  return {
    ...model,
    doStream(options) {
      if (asked++ > steps) [asked, model] = [1, countingModel(steps, called)];
      return model.doStream(options);
    },
  };
}
