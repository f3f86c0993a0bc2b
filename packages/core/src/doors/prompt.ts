// The public door of @lastcall/core/prompt: prompts of sections, planning, plugins and modes.

export type { Prompt, RenderedPrompt } from '../contract/prompt.ts';
export { type Section, section } from '../contract/section.ts';
export { PluginError, PromptRenderError, PromptValidationError } from '../errors.ts';
export { type Plan, type PlanStep, plan } from '../planning/plan.ts';
export { planningSection } from '../planning/planning-section.ts';
export type { PlanningStrategy } from '../planning/planning-strategy.ts';
export { type AgentMode, buildModes } from '../plugin/agent-modes.ts';
export { type ModeConfig, type Plugin, plugin } from '../plugin/plugin.ts';
export { prompt } from '../prompt/build-prompt.ts';
