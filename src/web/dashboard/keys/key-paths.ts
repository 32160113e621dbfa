import { z } from 'zod';
import { merchantCode, pagePath } from '../../page/page-path';

const ofKey = { code: merchantCode, key: z.uuid() };

export const keysPath = pagePath('/m/:code/developers/keys', { code: merchantCode });
export const newKeyPath = pagePath('/m/:code/developers/keys/new', { code: merchantCode });
export const keyPath = pagePath('/m/:code/developers/keys/:key', ofKey);
export const editKeyPath = pagePath('/m/:code/developers/keys/:key/edit', ofKey);
export const rotateKeyPath = pagePath('/m/:code/developers/keys/:key/rotate', ofKey);
export const revokeKeyPath = pagePath('/m/:code/developers/keys/:key/revoke', ofKey);
