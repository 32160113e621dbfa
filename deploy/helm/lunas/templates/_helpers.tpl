{{- define "lunas.name" -}}
{{- .Release.Name | trunc 20 | trimSuffix "-" -}}
{{- end -}}

{{/* (dict "root" $ "component" "api") */}}
{{- define "lunas.selector" -}}
app.kubernetes.io/name: lunas
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "lunas.labels" -}}
{{ include "lunas.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "lunas.image" -}}
{{- with .Values.image -}}
{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default ($.Chart.AppVersion | replace "+" "_") }}{{ end }}
{{- end -}}
{{- end -}}

{{/*
The part of a pod specification that all processes share: (dict "root" $ "component" "api"), and what `lunas.files`
takes. A person's pod has "extraVolumes" of its own.
*/}}
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
volumes:
  # Profiles and heap snapshots. It stays when a container restarts, and goes with the pod.
  - name: tmp
    emptyDir: { sizeLimit: {{ .root.Values.tmpSize }} }
  - name: lunas
    projected:
      defaultMode: 288
      sources: {{ include "lunas.files" . | nindent 8 }}
  {{- with concat .root.Values.extraVolumes (.extraVolumes | default list) }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/*
The files below /etc/lunas. The key "databaseKey" of the secret "databaseSecret" is the DATABASE_URL of the process. A
migration has nothing else to open.
*/}}
{{- define "lunas.files" -}}
{{- $secrets := .root.Values.secrets -}}
- secret:
    name: {{ .databaseSecret | default $secrets.database }}
    items: [{ key: {{ .databaseKey }}, path: {{ include "lunas.databaseVariable" . }} }]
{{- with $secrets.databaseCa }}
- secret: { name: {{ . }}, items: [{ key: ca.crt, path: postgresql/ca.crt }] }
{{- end }}
{{- if ne .component "migrate" }}
- secret:
    name: {{ $secrets.keys }}
    items:
      {{- range include "lunas.keys" . | fromJsonArray }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
{{- with $secrets.temporalTls }}
- secret:
    name: {{ . }}
    items: [{ key: ca.crt, path: temporal/ca.crt }, { key: tls.crt, path: temporal/tls.crt }, { key: tls.key, path: temporal/tls.key }]
{{- end }}
{{- end }}
{{- end -}}

{{/* The keys of `secrets.keys` that are there, as JSON. */}}
{{- define "lunas.keys" -}}
{{- $secrets := .root.Values.secrets -}}
{{- $keys := list "LUNAS_MASTER_KEY" -}}
{{- if $secrets.hasOldMasterKeys }}{{ $keys = append $keys "LUNAS_OLD_MASTER_KEYS" }}{{ end -}}
{{- if $secrets.hasTemporalApiKey }}{{ $keys = append $keys "TEMPORAL_API_KEY" }}{{ end -}}
{{- toJson $keys -}}
{{- end -}}

{{/* A migration does not run through a pooler. */}}
{{- define "lunas.databaseVariable" -}}
{{- eq .component "migrate" | ternary "DATABASE_DIRECT_URL" "DATABASE_URL" -}}
{{- end -}}

{{/* The roles of workers with a login of their own in `secrets.database`, by whose name it has a key. */}}
{{- define "lunas.workerDatabaseKey" -}}
{{- $own := list "payouts" "verifier" -}}
{{- $role := first .roles -}}
{{- has $role $own | ternary $role "worker" -}}
{{- end -}}

{{/*
The part of a container that all processes share: (dict "root" $ "component" "api" "environment" (dict)), and for volumes
of its own "extraVolumeMounts".
*/}}
{{- define "lunas.container" -}}
{{- $secrets := .root.Values.secrets -}}
image: {{ include "lunas.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
env:
  {{- $variable := include "lunas.databaseVariable" . }}
  {{- $files := dict (printf "%s_FILE" $variable) (printf "/etc/lunas/%s" $variable) }}
  {{- if $secrets.databaseCa }}{{ $_ := set $files "DATABASE_TLS_CA" "/etc/lunas/postgresql/ca.crt" }}{{ end }}
  {{- if ne .component "migrate" }}
  {{- range include "lunas.keys" . | fromJsonArray }}
  {{- $_ := set $files (printf "%s_FILE" .) (printf "/etc/lunas/%s" .) }}
  {{- end }}
  {{- if $secrets.temporalTls }}
  {{- range $name, $file := dict "CA" "ca.crt" "CERT" "tls.crt" "KEY" "tls.key" }}
  {{- $_ := set $files (printf "TEMPORAL_TLS_%s" $name) (printf "/etc/lunas/temporal/%s" $file) }}
  {{- end }}
  {{- end }}
  {{- end }}
  {{- /* Each variable once: the API server rejects a second one. `merge` would ignore a `false` or a 0. */}}
  {{- $variables := dict }}
  {{- range list .root.Values.environment .environment $files }}
  {{- range $name, $value := . }}{{ $_ := set $variables $name $value }}{{ end }}
  {{- end }}
  {{- /* JSON: `toString` of a whole number from a million on has an exponent. */}}
  {{- range $name, $value := $variables }}
  {{- if not (and (eq $.component "migrate") (hasPrefix "TEMPORAL_" $name)) }}
  - name: {{ $name }}
    value: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
  {{- end }}
  {{- end }}
volumeMounts:
  - { name: tmp, mountPath: /tmp }
  - { name: lunas, mountPath: /etc/lunas, readOnly: true }
  {{- with concat .root.Values.extraVolumeMounts (.extraVolumeMounts | default list) }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}
