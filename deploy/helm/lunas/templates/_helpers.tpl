{{- define "lunas.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* (dict "root" $ "component" "api") */}}
{{- define "lunas.selector" -}}
app.kubernetes.io/name: lunas
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "lunas.labels" -}}
{{ include "lunas.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* (dict "root" $ "tag" "" "digest" ""): without a tag and a digest of its own, a process has those of `image`. */}}
{{- define "lunas.image" -}}
{{- $image := .root.Values.image -}}
{{- if or .tag .digest }}{{ $image = . }}{{ end -}}
{{ .root.Values.image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end -}}

{{/* The part of a pod specification that all processes share. */}}
{{- define "lunas.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "lunas.selector" . | nindent 8 }}
{{- with .root.Values.secrets.temporalTls }}
volumes:
  - name: temporal-tls
    secret: { secretName: {{ . }}, defaultMode: 288 }
{{- end }}
{{- end -}}

{{/*
The part of a container that all processes share: (dict "root" $ "database" "api" "environment" (dict)), and for an image
of its own "tag" and "digest".
*/}}
{{- define "lunas.container" -}}
image: {{ include "lunas.image" (dict "root" .root "tag" .tag "digest" .digest) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  {{- range $name, $value := merge (dict) .environment .root.Values.environment }}
  - name: {{ $name }}
    value: {{ $value | toString | quote }}
  {{- end }}
  # A migration does not run through a pooler.
  - name: {{ eq .database "migrate" | ternary "DATABASE_DIRECT_URL" "DATABASE_URL" }}
    valueFrom: { secretKeyRef: { name: {{ .root.Values.secrets.database }}, key: {{ .database }} } }
  {{- range $name, $optional := dict "LUNAS_MASTER_KEY" false "LUNAS_OLD_MASTER_KEYS" true "TEMPORAL_API_KEY" true }}
  - name: {{ $name }}
    valueFrom: { secretKeyRef: { name: {{ $.root.Values.secrets.keys }}, key: {{ $name }}, optional: {{ $optional }} } }
  {{- end }}
  {{- if .root.Values.secrets.temporalTls }}
  {{- range $name, $file := dict "TEMPORAL_TLS_CA" "ca.crt" "TEMPORAL_TLS_CERT" "tls.crt" "TEMPORAL_TLS_KEY" "tls.key" }}
  - name: {{ $name }}
    value: /etc/lunas/temporal/{{ $file }}
  {{- end }}
volumeMounts:
  - { name: temporal-tls, mountPath: /etc/lunas/temporal, readOnly: true }
  {{- end }}
{{- end -}}
