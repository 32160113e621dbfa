/** THE closed table of docs/contract.md#errors. `message` is the default. */
export const API_ERRORS = {
  invalid_json: { httpStatus: 400, message: 'The body is not valid JSON.' },
  invalid_amount: { httpStatus: 400, message: 'amount must be an integer greater than 0.' },
  invalid_bulk_size: { httpStatus: 400, message: 'payments must hold 1 to 50 items.' },
  unsupported_payment_method: { httpStatus: 400, message: 'The payment method is not supported; use qris.' },
  payment_create_failed: { httpStatus: 400, message: 'The transaction could not be created.' },
  payment_cancel_failed: { httpStatus: 400, message: 'The transaction cannot be cancelled from its current status.' },
  payment_refund_failed: { httpStatus: 400, message: 'The transaction cannot be refunded from its current status.' },
  invalid_api_key: { httpStatus: 401, message: 'The secret key is missing, invalid or revoked.' },
  merchant_not_approved: { httpStatus: 403, message: 'The merchant is not active.' },
  api_key_ip_not_allowed: { httpStatus: 403, message: "The request's address is not in the key's allowlist." },
  not_found: { httpStatus: 404, message: 'Not found.' },
  rate_limited: { httpStatus: 429, message: 'Too many requests; try again after the time in Retry-After.' },
  server_error: { httpStatus: 500, message: 'The request could not be processed; try again later.' },
} as const satisfies Record<string, { httpStatus: number; message: string }>;

export type ApiErrorCode = keyof typeof API_ERRORS;
