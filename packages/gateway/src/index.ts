// The public exports of @lastcall/gateway.

export type { AgentConfig, AgentConfigInput } from './config/agent-config.ts';
export type { AgentDefinition, ModeContext } from './config/agent-definition.ts';
export { type ConfigInput, defineConfig } from './config/config.ts';
export { ConfigError } from './config/config-error.ts';
export { defineAgent } from './config/define-agent.ts';
export type { GatewayLimits } from './config/limits.ts';
export type { TypescriptSettings } from './config/registered-tool.ts';
export type { ToolConfig, ToolConfigInput } from './config/tool-config.ts';
export {
  signWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookToSign,
  type WebhookToVerify,
} from './domain/calls/webhook-signature.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { rehearsalModel } from './models/rehearsal/rehearsal-model.ts';
export type { Found } from './start/found.ts';
